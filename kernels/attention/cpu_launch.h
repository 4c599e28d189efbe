// Launch parameters of the cpu variants, the same for every row of both operators, and the kernels
// that they pick. Defaults of `threads` and `isa` are those of this host, found once.
#pragma once

#include "kernels/attention/cpu_engine.h"
#include "kernels/operator.h"

#include "absl/status/status.h"

#include <cstdint>
#include <span>
#include <string>

namespace assay::kernels::attention {

// Speed, never bits.
struct CpuSettings {
  std::int32_t pairs_per_tile = 1;
  std::int32_t merge_batch = 1;
  std::int32_t threads = 1;
  bool use_avx2 = false;
};

std::span<const AxisInfo> cpu_parameters();
CpuSettings cpu_settings(const LaunchParameters& parameters);

// FAILED_PRECONDITION where the parameters ask for instructions that this processor does not have.
absl::Status cpu_available(const LaunchParameters& parameters);

AttendKernel attend_kernel(const CpuSettings& settings, Family family, EngineMutation mutation);
MergeKernel merge_kernel(const CpuSettings& settings, EngineMutation mutation);

// Adds the name of what runs to the call's trace: "tensor_core_attend_avx2", "merge_portable".
void record_attend(const Call& call, Family family);
void record_merge(const Call& call);

}  // namespace assay::kernels::attention
