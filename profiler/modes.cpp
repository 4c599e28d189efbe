#include "profiler/modes.h"

#include "profiler/statistics.h"

#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace assay::profiler {

namespace {

constexpr double kTrimmed = 0.025;    // of each tail, so that a few outliers are no mode
constexpr double kLeastShare = 0.25;  // of the rarer half: rarer ones leave the medians alone
constexpr double kLeastApart = 0.02;  // as a logarithm
constexpr double kLeftByCall = 0.2;   // of the variance; 0.25 for a uniform, 0.36 for a normal one
constexpr double kLeftByBlock = 0.1;  // of the variance of step sizes
constexpr double kTicksApart = 1.5;   // neighbouring ticks of a timer are one mode
constexpr double kFinestTick = 32.0;  // ns, where the samples' own divisor does not show it
constexpr double kCoarsestTimer = 1000.0;  // ns: a longer divisor is the kernel's, not the timer's
constexpr std::size_t kLeastCalls = 8;
constexpr std::size_t kLeastSteps = 11;

struct Split {
  double low_mean = 0;
  double high_mean = 0;
  double low_share = 0;
  double left = 1;  // of the variance, within the halves
};

void trim(std::vector<double>& values) {
  const auto cut = static_cast<std::ptrdiff_t>(kTrimmed * static_cast<double>(values.size()));
  if (cut == 0) {
    return;
  }
  std::nth_element(values.begin(), values.begin() + cut, values.end());
  values.erase(values.begin(), values.begin() + cut);
  std::nth_element(values.begin(), values.end() - cut, values.end());
  values.erase(values.end() - cut, values.end());
}

// Two-means from the middle of the range; each pass is linear.
Split split_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  double threshold = (least + most) / 2;
  Split split;
  for (int pass = 0; pass < 16; ++pass) {
    double low_sum = 0;
    double high_sum = 0;
    std::size_t num_low = 0;
    for (const double value : values) {
      if (value <= threshold) {
        low_sum += value;
        ++num_low;
      } else {
        high_sum += value;
      }
    }
    if (num_low == 0 || num_low == values.size()) {
      return {};
    }
    split.low_mean = low_sum / static_cast<double>(num_low);
    split.high_mean = high_sum / static_cast<double>(values.size() - num_low);
    split.low_share = static_cast<double>(num_low) / static_cast<double>(values.size());
    const double next = (split.low_mean + split.high_mean) / 2;
    if (next == threshold) {
      break;
    }
    threshold = next;
  }
  const double middle = split.low_share * split.low_mean + (1 - split.low_share) * split.high_mean;
  double within = 0;
  double all = 0;
  for (const double value : values) {
    const double mean = value <= threshold ? split.low_mean : split.high_mean;
    within += (value - mean) * (value - mean);
    all += (value - middle) * (value - middle);
  }
  split.left = all > 0 ? within / all : 1;
  return split;
}

// The largest step that all durations are multiples of, apart from an offset.
double tick_ns(std::span<const std::vector<double>> blocks) {
  std::int64_t divisor = 0;
  for (const std::vector<double>& block : blocks) {
    for (const double sample : block) {
      divisor = std::gcd(divisor, static_cast<std::int64_t>(sample - blocks.front().front()));
    }
  }
  return std::clamp(static_cast<double>(divisor), kFinestTick, kCoarsestTimer);
}

std::optional<Modes> modes_of(std::vector<double> values,
                              double most_left,
                              double least_apart,
                              bool by_block) {
  trim(values);
  const Split split = split_of(values);
  const double share = std::min(split.low_share, 1 - split.low_share);
  const double apart = by_block ? split.high_mean : split.high_mean - split.low_mean;
  if (split.left > most_left || share < kLeastShare || apart < least_apart) {
    return std::nullopt;
  }
  return Modes{std::expm1(apart), share, by_block};
}

}  // namespace

std::optional<Modes> find_modes(std::span<const std::vector<double>> blocks) {
  std::vector<double> distances;
  std::vector<double> middles;
  for (const std::vector<double>& block : blocks) {
    if (block.empty()) {
      continue;
    }
    middles.push_back(std::log(*median(block)));
    if (block.size() < kLeastCalls) {
      continue;
    }
    const std::size_t begin = distances.size();
    double sum = 0;
    for (const double sample : block) {
      distances.push_back(std::log(sample));
      sum += distances.back();
    }
    for (std::size_t i = begin; i < distances.size(); ++i) {
      distances[i] -= sum / static_cast<double>(block.size());
    }
  }
  if (middles.size() <= kLeastSteps) {
    return std::nullopt;
  }
  const double typical_ns = std::exp(*median(middles));
  const double least_apart =
      std::max(kLeastApart, std::log1p(kTicksApart * tick_ns(blocks) / typical_ns));

  if (!distances.empty()) {
    if (auto modes = modes_of(std::move(distances), kLeftByCall, least_apart, false)) {
      return modes;
    }
  }
  std::vector<double> steps;
  for (std::size_t i = 1; i < middles.size(); ++i) {
    steps.push_back(std::abs(middles[i] - middles[i - 1]));
  }
  return modes_of(std::move(steps), kLeftByBlock, least_apart, true);
}

std::string describe(const Modes& modes) {
  return absl::StrFormat("the samples have two modes %.1f %% apart, %s",
                         modes.apart * 100,
                         modes.by_block ? "block by block" : "call by call");
}

}  // namespace assay::profiler
