// A tuning table as a C++20 header that a program includes to pick launch parameters at run time.
// It needs nothing but the standard library.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

// In the table's order. INVALID_ARGUMENT names an entry whose text a string literal cannot hold.
absl::StatusOr<std::string> tuning_header(const v1::ListTuningsResponse& table);

}  // namespace assay::client
