#include "profiler/session.h"

namespace assay::profiler {

absl::Status Session::count(const Arm& arm,
                            const v1::RunnerClose& request,
                            v1::Measurement& measurement) {
  if (request.counters().empty()) {
    return absl::OkStatus();
  }
  if (measurement.bits().failed() != v1::BITS_CHECK_UNSPECIFIED) {
    measurement.set_counters_missing("the arm failed a check");
    return absl::OkStatus();
  }
  const std::vector<std::string> counters(request.counters().begin(), request.counters().end());
  const auto counted = state_.device.count(block_request(arm, 1), counters);
  if (counted.ok()) {
    measurement.mutable_counters()->Add(counted->begin(), counted->end());
    return absl::OkStatus();
  }
  if (!is_uncounted(counted.status())) {
    return counted.status();
  }
  measurement.set_counters_missing(std::string(counted.status().message()));
  return absl::OkStatus();
}

}  // namespace assay::profiler
