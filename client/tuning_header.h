// A tuning table as a C++20 header that a program includes to pick launch parameters at run time.
// It needs nothing but the standard library.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

// In the table's order. `operators` say which axes are integers; one that is not among them has no
// near workloads. INVALID_ARGUMENT names an entry whose text a string literal cannot hold,
// FAILED_PRECONDITION: the table is empty.
absl::StatusOr<std::string> tuning_header(const v1::ListTuningsResponse& table,
                                          const v1::ListOperatorsResponse& operators);

}  // namespace assay::client
