// Robust figures of samples, in linear time. Too few samples are a status, never an inf or a NaN.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay::profiler {

// The headline statistic, by the name that is stored with it.
inline constexpr std::string_view kStatistic = "median";
inline constexpr double kCoverage = 0.999;

struct Quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

// The interval of a median between two order statistics, and its exact coverage.
struct MedianInterval {
  double low = 0;
  double median = 0;
  double high = 0;
  double coverage = 0;
  std::uint32_t low_rank = 0;  // 1 is the smallest
  std::uint32_t high_rank = 0;
};

// FAILED_PRECONDITION "insufficient samples (have n, need k)".
absl::Status insufficient_samples(std::size_t have, std::size_t need);

// The middle one, or the mean of the middle two.
absl::StatusOr<double> median(std::span<const double> samples);
absl::StatusOr<double> median(std::span<const std::int64_t> samples);

// Linear between order statistics (at 1/4 and 3/4 of n - 1).
absl::StatusOr<Quartiles> quartiles(std::span<const double> samples);
absl::StatusOr<Quartiles> quartiles(std::span<const std::int64_t> samples);

absl::StatusOr<double> mean(std::span<const double> samples);

// Two passes; nullopt for fewer than two samples.
std::optional<double> sample_deviation(std::span<const double> samples);

// The narrowest symmetric pair of ranks whose coverage is at least `coverage`, whatever the
// distribution. Needs 11 samples for 99.9 %.
absl::StatusOr<MedianInterval> median_interval(std::span<const double> samples,
                                               double coverage = kCoverage);

// Whether the first sample is over twice the median of the others: a call on cold caches or clocks.
bool is_first_sample_cold(std::span<const double> samples);

}  // namespace assay::profiler
