#include "profiler/noise_floor.h"

#include "profiler/verdict.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::profiler {

v1::NoiseFloor noise_floor_key(const v1::Device& device,
                               const std::string& operator_name,
                               const v1::Configuration& configuration) {
  v1::NoiseFloor key;
  key.set_device_uuid(device.uuid());
  key.set_operator_name(operator_name);
  key.set_workload(proto::text_of(configuration.workload()));
  key.set_cache_mode(configuration.baseline().cache_mode());
  key.set_launch_mode(configuration.baseline().launch_mode());
  key.set_timing_source(configuration.baseline().timing_source());
  return key;
}

absl::StatusOr<v1::NoiseFloor> noise_floor_of(v1::NoiseFloor key,
                                              const v1::Device& device,
                                              const v1::Verdict& verdict,
                                              std::int64_t now_ns) {
  if (!verdict.identical_code()) {
    return absl::FailedPreconditionError("the arms are not identical code");
  }
  const v1::StageVerdict* total = headline_of(verdict);
  if (total == nullptr || !total->has_ratio()) {
    return absl::FailedPreconditionError(verdict.reason());
  }
  const double far =
      std::max(std::abs(std::log(total->ratio_low())), std::abs(std::log(total->ratio_high())));
  key.set_noise_floor(std::expm1(far));
  key.set_num_rounds(total->num_rounds());
  key.set_measured_ns(now_ns);
  key.set_driver_version(device.driver_version());
  key.set_toolkit_version(device.toolkit_version());
  key.set_code_version(device.code_version());
  return key;
}

std::string why_stale(const v1::NoiseFloor& floor, const v1::Device& device, std::int64_t now_ns) {
  constexpr std::int64_t kDayNs = std::int64_t{24} * 3'600 * 1'000'000'000;
  std::vector<std::string> reasons;
  if (now_ns - floor.measured_ns() > kFreshNoiseNs) {
    reasons.push_back(absl::StrCat("it is ", (now_ns - floor.measured_ns()) / kDayNs, " days old"));
  }
  const auto differs = [&](const char* what, const std::string& then, const std::string& now) {
    if (then != now) {
      reasons.push_back(absl::StrCat("the ",
                                     what,
                                     " was ",
                                     then.empty() ? "unknown" : then,
                                     ", now ",
                                     now.empty() ? "unknown" : now));
    }
  };
  differs("driver", floor.driver_version(), device.driver_version());
  differs("toolkit", floor.toolkit_version(), device.toolkit_version());
  differs("code", floor.code_version(), device.code_version());
  return absl::StrJoin(reasons, "; ");
}

}  // namespace assay::profiler
