// The metrics that one kind of chip has: which names are valid, how they are collected and what
// collected data say. This half of CUPTI needs no device and no driver.
#pragma once

#include "profiler/counter_groups.h"
#include "profiler/cupti_library.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

class CuptiMetrics {
 public:
  // `chip` as CUPTI names it ("GH100"). UNAVAILABLE says what fails.
  static absl::StatusOr<std::unique_ptr<CuptiMetrics>> open(const CuptiLibrary& library,
                                                            const std::string& chip);

  CuptiMetrics(const CuptiMetrics&) = delete;
  CuptiMetrics& operator=(const CuptiMetrics&) = delete;
  virtual ~CuptiMetrics() = default;

  // The names that the chip has, in order. INVALID_ARGUMENT names one that somebody wrote and the
  // chip has not, with valid ones near it; UNAVAILABLE a group of which it has nothing.
  virtual absl::StatusOr<std::vector<std::string>> select(
      std::span<const WantedMetric> wanted) const = 0;

  // How the device is to collect names that were selected.
  virtual absl::StatusOr<std::vector<std::uint8_t>> config_image(
      std::span<const std::string> names) const = 0;

  // The values of one range of collected data. What has no value, as a share of nothing, is left
  // out.
  virtual absl::StatusOr<std::vector<v1::Metric>> evaluate(
      std::span<const std::uint8_t> counter_data,
      std::size_t range,
      std::span<const std::string> names) const = 0;

 protected:
  CuptiMetrics() = default;
};

}  // namespace assay::profiler
