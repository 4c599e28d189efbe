#include "tuning/ranking.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::tuning {
namespace {

constexpr double kOutside = 0.01;  // of the interval's coverage, both sides together

// A duration that is not above 0 is a fault of the file.
std::optional<double> if_positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

double median_of_sorted(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : std::midpoint(sorted[half - 1], sorted[half]);
}

// How many order statistics to leave out at each end, at most: a median lies below the k-th one
// with the probability of fewer than k heads in n throws. nullopt: too few samples.
std::optional<std::size_t> num_left_out(std::size_t num_samples) {
  const auto n = static_cast<double>(num_samples);
  double one_side = 0;
  std::size_t rank = 0;
  for (; 2 * rank < num_samples; ++rank) {
    const auto k = static_cast<double>(rank);
    one_side += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                         n * std::log(2.0));
    if (2 * one_side > kOutside) {
      break;
    }
  }
  return rank == 0 ? std::nullopt : std::optional(rank - 1);
}

RankedRow ranked(std::size_t index, const v1::RecordedRow& row, double value, Statistic statistic) {
  RankedRow result{.row = index, .value_ns = value, .low_ns = value, .high_ns = value};
  if (statistic == Statistic::kTime) {
    return result;
  }
  std::vector<double> sorted(row.samples_ns().begin(), row.samples_ns().end());
  std::ranges::sort(sorted);
  if (const std::optional<std::size_t> left_out = num_left_out(sorted.size())) {
    result.low_ns = sorted[*left_out];
    result.high_ns = sorted[sorted.size() - 1 - *left_out];
  }
  return result;
}

bool is_before(const RankedRow& left, const RankedRow& right) {
  return left.value_ns != right.value_ns ? left.value_ns < right.value_ns : left.row < right.row;
}

}  // namespace

absl::StatusOr<Statistic> parse_statistic(std::string_view name) {
  for (const Statistic statistic : {Statistic::kMedian, Statistic::kMean, Statistic::kTime}) {
    if (name == statistic_name(statistic)) {
      return statistic;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("objective: `", std::string(name), "`: expected one of mean, median, time"));
}

std::string statistic_name(Statistic statistic) {
  return statistic == Statistic::kMedian ? "median"
         : statistic == Statistic::kMean ? "mean"
                                         : "time";
}

std::optional<double> value_of(const v1::RecordedRow& row, Statistic statistic) {
  if (row.failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
    return std::nullopt;
  }
  if (statistic == Statistic::kTime) {
    return row.has_time() ? if_positive(row.time_ns()) : std::nullopt;
  }
  std::vector<double> samples(row.samples_ns().begin(), row.samples_ns().end());
  if (samples.empty()) {
    return std::nullopt;
  }
  if (statistic == Statistic::kMean) {
    return if_positive(std::accumulate(samples.begin(), samples.end(), 0.0) /
                       static_cast<double>(samples.size()));
  }
  std::ranges::sort(samples);
  return if_positive(median_of_sorted(samples));
}

Ranking rank(std::span<const v1::RecordedRow> rows, Statistic statistic) {
  Ranking ranking;
  std::vector<RankedRow> all;
  std::optional<RankedRow> winner;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
      ++ranking.failures[rows[i].failure()];
      continue;
    }
    const std::optional<double> value = value_of(rows[i], statistic);
    if (!value.has_value()) {
      ++ranking.num_missing;
      continue;
    }
    const RankedRow& row = all.emplace_back(ranked(i, rows[i], *value, statistic));
    if (!winner.has_value() || is_before(row, *winner)) {
      winner = row;
    }
  }
  ranking.num_ranked = all.size();
  std::ranges::copy_if(all, std::back_inserter(ranking.ties), [&winner](const RankedRow& row) {
    return row.low_ns <= winner->high_ns;
  });
  std::ranges::sort(ranking.ties, is_before);
  return ranking;
}

}  // namespace assay::tuning
