// The grid and the blocks of a T1 file's kernel, in either dialect (client/t1_source.h).
#pragma once

#include "client/source_file.h"
#include "client/strict_json.h"

#include "absl/status/status.h"

namespace assay::client {

// Whether `kernel`, a KernelSpecification, is of Kernel Tuner's dialect.
bool is_kernel_tuner(const nlohmann::json& kernel);

// Sets grid, block and shared_bytes of the only stage of the bundle's specification, whose
// parameters are read. Where ProblemSize and GridDiv are given, GlobalSize is not used, with a
// warning. Threads of GlobalSizeType OpenCL that do not make whole blocks have no grid.
absl::Status read_t1_sizes(const nlohmann::json& kernel, SourceBundle& bundle);

}  // namespace assay::client
