// A compile job as a request to the compiler, checked: limits, names, options.
#pragma once

#include "profiler/source_compiler.h"
#include "proto/compiler.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::profiler {

// INVALID_ARGUMENT names the field, the limit and the size.
absl::StatusOr<v1::CompileRequest> compile_request(const CompileJob& job);

// The digest, as text, of the request and the compiler's version.
std::string identity_of(const v1::CompileRequest& request, const std::string& version);

}  // namespace assay::profiler
