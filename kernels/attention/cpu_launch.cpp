#include "kernels/attention/cpu_launch.h"

#include "kernels/thread_pool.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::kernels::attention {

namespace avx2 {

bool is_available() {
#if defined(__x86_64__)
  return step_kernel() != nullptr && __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

}  // namespace avx2

namespace {

constexpr std::string_view kTileChoices[] = {"4", "16", "32", "64"};
constexpr std::int32_t kTilePairCounts[] = {4, 16, 32, 64};
static_assert(kTilePairCounts[3] == kMostTilePairs);

constexpr std::string_view kBatches[] = {"1", "2", "4", "8"};
constexpr std::string_view kIsas[] = {"portable", "avx2"};
constexpr std::int32_t kIsaAvx2 = 1;

enum Parameter : std::size_t { kPairsPerTile, kMergeBatch, kThreads, kIsa };

}  // namespace

std::span<const AxisInfo> cpu_parameters() {
  static const std::string count =
      std::to_string(std::min<std::size_t>(available_processors().size(), kMostThreads));
  static const std::array<AxisInfo, 4> parameters = {{
      {.name = "pairs_per_tile",
       .help = "pairs of a row and a query head that share expanded keys",
       .default_value = "32",
       .choices = kTileChoices},
      {.name = "merge_batch",
       .help = "groups that the merge folds at a time",
       .default_value = "8",
       .choices = kBatches},
      {.name = "threads",
       .help = "threads of a call, the caller included",
       .default_value = count,
       .min = 1,
       .max = kMostThreads},
      {.name = "isa",
       .help = "instruction set, never a bit",
       .default_value = kIsas[avx2::is_available() ? kIsaAvx2 : 0],
       .choices = kIsas},
  }};
  return parameters;
}

CpuSettings cpu_settings(const LaunchParameters& parameters) {
  const auto& values = parameters.values;
  return {.pairs_per_tile = kTilePairCounts[values[kPairsPerTile]],
          .merge_batch = 1 << values[kMergeBatch],
          .threads = values[kThreads],
          .use_avx2 = values[kIsa] == kIsaAvx2};
}

absl::Status cpu_available(const LaunchParameters& parameters) {
  if (cpu_settings(parameters).use_avx2 && !avx2::is_available()) {
    return absl::FailedPreconditionError("isa: avx2 needs a processor with AVX2 and FMA");
  }
  return absl::OkStatus();
}

AttendKernel attend_kernel(const CpuSettings& settings, Family family, EngineMutation mutation) {
  return settings.use_avx2 ? avx2::attend_kernel(family, mutation)
                           : portable::attend_kernel(family, mutation);
}

MergeKernel merge_kernel(const CpuSettings& settings, EngineMutation mutation) {
  return settings.use_avx2 ? avx2::merge_kernel(mutation) : portable::merge_kernel(mutation);
}

void record_attend(const Call& call, Family family) {
  if (call.trace != nullptr) {
    const std::string isa(kIsas[cpu_settings(call.parameters).use_avx2 ? kIsaAvx2 : 0]);
    call.trace->kernels.push_back(
        (family == Family::kFp32 ? "fp32_attend_" : "tensor_core_attend_") + isa);
  }
}

void record_merge(const Call& call) {
  if (call.trace != nullptr) {
    const std::string isa(kIsas[cpu_settings(call.parameters).use_avx2 ? kIsaAvx2 : 0]);
    call.trace->kernels.push_back("merge_" + isa);
  }
}

}  // namespace assay::kernels::attention
