// A T1 file as a specification of source. Two dialects of it are told apart: Kernel Tuner's
// (ProblemSize, GridDivX...; the macro kernel_tuner is 1, blocks are the problem's size divided by
// the divisors and rounded up) and KTT's (GlobalSize, in blocks or, of GlobalSizeType OpenCL, in
// threads).
#pragma once

#include "client/source_file.h"
#include "client/source_folder.h"
#include "client/strict_json.h"

#include "absl/status/statusor.h"

#include <string_view>

namespace assay::client {

bool is_t1(const nlohmann::json& root);

// With texts, without the data of files. INVALID_ARGUMENT names the field by path and says what
// cannot be run: another language, a kernel whose parameters are not the arguments, ...
absl::StatusOr<SourceBundle> t1_source(std::string_view text,
                                       const nlohmann::json& root,
                                       const SourceFolder& folder);

}  // namespace assay::client
