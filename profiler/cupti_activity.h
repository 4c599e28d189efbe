// The only place that knows CUPTI: it feeds kernel records and external ids to a collector. The
// library is loaded at run time, so that a host without it still starts. CUPTI allows one user a
// process, and calls back from its own threads and from inside its own functions.
#pragma once

#include "profiler/activity_collector.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace assay::profiler {

class CuptiActivity {
 public:
  // UNAVAILABLE says why there is none. Call it before the CUDA context is made.
  static absl::StatusOr<std::unique_ptr<CuptiActivity>> open();

  // The callbacks know the address.
  CuptiActivity(const CuptiActivity&) = delete;
  CuptiActivity& operator=(const CuptiActivity&) = delete;
  virtual ~CuptiActivity() = default;

  // Throws away what is left from before and starts recording a block.
  virtual absl::Status begin(std::uint32_t num_calls, std::span<const std::string> stages) = 0;
  // Around the launches of one stage of one call.
  virtual absl::Status push(std::uint32_t call, std::size_t stage) = 0;
  virtual absl::Status pop() = 0;
  // After the device is idle: what was recorded since begin().
  virtual absl::StatusOr<CollectedBlock> finish() = 0;
  // Switches recording off until the next begin(), for what must not be disturbed.
  virtual absl::Status pause() = 0;

  virtual std::string version() const = 0;

 protected:
  CuptiActivity() = default;
};

}  // namespace assay::profiler
