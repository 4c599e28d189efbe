#include "profiler/statistics.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::profiler {

namespace {

// The k-th smallest and the one after it; `values` is reordered.
std::pair<double, double> order_statistics(std::vector<double>& values, std::size_t k) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(values.begin(), at, values.end());
  const double lower = *at;
  if (k + 1 == values.size()) {
    return {lower, lower};
  }
  return {lower, *std::min_element(at + 1, values.end())};
}

double quantile(std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const double below = std::floor(place);
  const auto [lower, upper] = order_statistics(values, static_cast<std::size_t>(below));
  return lower + (place - below) * (upper - lower);
}

template <class T>
std::vector<double> copy_of(std::span<const T> samples) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const T sample : samples) {
    values.push_back(static_cast<double>(sample));
  }
  return values;
}

absl::StatusOr<double> median_of(std::vector<double> values) {
  if (values.empty()) {
    return insufficient_samples(0, 1);
  }
  return quantile(values, 0.5);
}

absl::StatusOr<Quartiles> quartiles_of(std::vector<double> values) {
  if (values.empty()) {
    return insufficient_samples(0, 1);
  }
  return Quartiles{quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

// The largest k for which [k-th smallest, k-th largest] covers the median with at least `coverage`,
// and that coverage; 0 when not even the extremes do.
std::pair<std::uint32_t, double> symmetric_rank(std::size_t n, double coverage) {
  double term = std::pow(0.5, static_cast<double>(n));
  double tail = term;
  std::pair<std::uint32_t, double> best = {0, 0.0};
  for (std::size_t k = 1; 2 * k <= n && 1.0 - 2.0 * tail >= coverage; ++k) {
    best = {static_cast<std::uint32_t>(k), 1.0 - 2.0 * tail};
    term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
    tail += term;
  }
  return best;
}

std::size_t samples_needed(double coverage) {
  std::size_t n = 2;
  while (n < 64 && symmetric_rank(n, coverage).first == 0) {
    ++n;
  }
  return n;
}

}  // namespace

absl::Status insufficient_samples(std::size_t have, std::size_t need) {
  return absl::FailedPreconditionError(
      absl::StrCat("insufficient samples (have ", have, ", need ", need, ")"));
}

absl::StatusOr<double> median(std::span<const double> samples) {
  return median_of(copy_of(samples));
}

absl::StatusOr<double> median(std::span<const std::int64_t> samples) {
  return median_of(copy_of(samples));
}

absl::StatusOr<Quartiles> quartiles(std::span<const double> samples) {
  return quartiles_of(copy_of(samples));
}

absl::StatusOr<Quartiles> quartiles(std::span<const std::int64_t> samples) {
  return quartiles_of(copy_of(samples));
}

absl::StatusOr<double> mean(std::span<const double> samples) {
  if (samples.empty()) {
    return insufficient_samples(0, 1);
  }
  double sum = 0;
  for (const double sample : samples) {
    sum += sample;
  }
  return sum / static_cast<double>(samples.size());
}

std::optional<double> sample_deviation(std::span<const double> samples) {
  if (samples.size() < 2) {
    return std::nullopt;
  }
  // Distances from the first sample keep the digits that large offsets would cost.
  double sum = 0;
  for (const double sample : samples) {
    sum += sample - samples.front();
  }
  const double middle = samples.front() + sum / static_cast<double>(samples.size());
  double squares = 0;
  for (const double sample : samples) {
    squares += (sample - middle) * (sample - middle);
  }
  return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

absl::StatusOr<MedianInterval> median_interval(std::span<const double> samples, double coverage) {
  const std::size_t n = samples.size();
  const auto [rank, covered] = symmetric_rank(n, coverage);
  if (rank == 0) {
    return insufficient_samples(n, samples_needed(coverage));
  }
  std::vector<double> values = copy_of(samples);
  MedianInterval interval;
  interval.median = quantile(values, 0.5);
  interval.low = order_statistics(values, rank - 1).first;
  interval.high = order_statistics(values, n - rank).first;
  interval.coverage = covered;
  interval.low_rank = rank;
  interval.high_rank = static_cast<std::uint32_t>(n - rank + 1);
  return interval;
}

bool is_first_sample_cold(std::span<const double> samples) {
  if (samples.size() < 3) {
    return false;
  }
  const auto others = median(samples.subspan(1));
  return others.ok() && *others > 0 && samples.front() > 2.0 * *others;
}

}  // namespace assay::profiler
