// Hardware counters by CUPTI's range profiler: one range for each kernel, which CUPTI itself
// replays as often as the counters need, with the memory as it was before. The caches are not: only
// the first replay finds them as the caller left them. CUPTI activity must be paused meanwhile.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

// More kernels in one count() are an error.
inline constexpr std::size_t kMostCountedKernels = 64;

// The metrics of one kernel.
using CountedKernel = std::vector<v1::Metric>;

class CuptiCounters {
 public:
  // For the device `ordinal`, whose context must be current here and in every count(). UNAVAILABLE
  // or PERMISSION_DENIED says which call of CUPTI fails and how.
  static absl::StatusOr<std::unique_ptr<CuptiCounters>> open(int ordinal);

  CuptiCounters(const CuptiCounters&) = delete;
  CuptiCounters& operator=(const CuptiCounters&) = delete;
  virtual ~CuptiCounters() = default;

  // Groups and names as names of this chip's metrics. INVALID_ARGUMENT names what is unknown, with
  // valid names near it.
  virtual absl::StatusOr<std::vector<std::string>> select(
      std::span<const std::string> counters) const = 0;

  // Counts the kernels that `launch` launches, in order, and leaves the profiler off whatever
  // fails. `launch` runs once, and returns when its kernels are done.
  virtual absl::StatusOr<std::vector<CountedKernel>> count(
      std::span<const std::string> metrics, const std::function<absl::Status()>& launch) = 0;

 protected:
  CuptiCounters() = default;
};

}  // namespace assay::profiler
