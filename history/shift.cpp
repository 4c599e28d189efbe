#include "history/shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace assay::history {
namespace {

// Up to this size of the smaller side ranks are counted, beyond it they are nearly normal.
constexpr std::size_t kCountedSize = 20;

// In how many orders of both sides the Mann-Whitney statistic is 0, 1, ... up to its middle: the
// coefficients of the Gaussian binomial, a product of (1 - q^(larger + i)) / (1 - q^i).
std::vector<double> count_orders(std::size_t smaller, std::size_t larger) {
  std::vector<double> orders(smaller * larger / 2 + 1, 0.0);
  orders[0] = 1;
  for (std::size_t i = 1; i <= smaller; ++i) {
    for (std::size_t power = orders.size(); power-- > larger + i;) {
      orders[power] -= orders[power - larger - i];
    }
    for (std::size_t power = i; power < orders.size(); ++power) {
      orders[power] += orders[power - i];
    }
  }
  return orders;
}

double number_of_orders(std::size_t smaller, std::size_t larger) {
  double number = 1;
  for (std::size_t i = 1; i <= smaller; ++i) {
    number *= static_cast<double>(larger + i) / static_cast<double>(i);
  }
  return number;
}

struct Rank {
  std::size_t from_end = 0;  // 0: the extremes
  double coverage = 0;
};

Rank counted_rank(std::size_t smaller, std::size_t larger, double coverage) {
  const double all = number_of_orders(smaller, larger);
  double tail = 0;
  Rank rank;
  std::size_t from_end = 0;
  for (const double orders : count_orders(smaller, larger)) {
    tail += orders / all;
    const double covered = 1 - 2 * tail;
    if (from_end > 0 && covered < coverage) {
      break;
    }
    rank = {from_end, std::max(covered, 0.0)};
    ++from_end;
  }
  return rank;
}

// The standard normal's upper tail, solved by halving.
double normal_quantile(double coverage) {
  double low = 0;
  double high = 10;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (std::erf(middle / std::numbers::sqrt2) < coverage ? low : high) = middle;
  }
  return high;
}

Rank normal_rank(std::size_t smaller, std::size_t larger, double coverage) {
  const double pairs = static_cast<double>(smaller) * static_cast<double>(larger);
  const double deviation = std::sqrt(pairs * static_cast<double>(smaller + larger + 1) / 12);
  const double from_end = pairs / 2 - normal_quantile(coverage) * deviation - 0.5;
  return {static_cast<std::size_t>(std::max(from_end, 0.0)), coverage};
}

// The median, and the values with `rank.from_end` others beyond them at either end.
Shift shift_of(std::vector<double>& differences, const Rank& rank) {
  const auto half = static_cast<std::ptrdiff_t>(differences.size() / 2);
  const auto from_end = static_cast<std::ptrdiff_t>(rank.from_end);
  const auto middle = differences.begin() + half;
  std::nth_element(differences.begin(), middle, differences.end());
  Shift shift = {.middle = *middle, .coverage = rank.coverage};
  if (differences.size() % 2 == 0) {
    shift.middle = (*std::max_element(differences.begin(), middle) + *middle) / 2;
  }
  const auto high = differences.end() - 1 - from_end;
  std::nth_element(middle, high, differences.end());
  shift.high = *high;
  const auto low = differences.begin() + std::min(from_end, half);
  std::nth_element(differences.begin(), low, middle);
  shift.low = *low;
  return shift;
}

}  // namespace

Shift shift_between(std::span<const double> before,
                    std::span<const double> after,
                    double coverage) {
  std::vector<double> differences;
  differences.reserve(before.size() * after.size());
  for (const double earlier : before) {
    for (const double later : after) {
      differences.push_back(later - earlier);
    }
  }
  const std::size_t smaller = std::min(before.size(), after.size());
  const std::size_t larger = std::max(before.size(), after.size());
  const Rank rank = smaller <= kCountedSize ? counted_rank(smaller, larger, coverage)
                                            : normal_rank(smaller, larger, coverage);
  return shift_of(differences, rank);
}

}  // namespace assay::history
