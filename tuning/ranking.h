// Which row of a recording is the fastest, and which rows cannot be told from it.
//
// The winner has the lowest statistic; of equal ones it is the first in the file. Rows that failed
// and rows without the statistic never rank. The noise of a row is the exact order-statistic
// interval of its median with a coverage of at least 99 %, where it has the eight samples which
// that needs; a row with fewer, and every row ranked by the time that its file states, has none but
// its value. A row ties with the winner unless its whole interval lies above the winner's.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

enum class Statistic { kMedian, kMean, kTime };

// "median", "mean", "time". INVALID_ARGUMENT lists them.
absl::StatusOr<Statistic> parse_statistic(std::string_view name);
std::string statistic_name(Statistic statistic);

struct RankedRow {
  std::size_t row = 0;  // its index
  double value_ns = 0;  // of the statistic
  double low_ns = 0;    // of its noise
  double high_ns = 0;
};

struct Ranking {
  std::vector<RankedRow> ties;  // the winner first, then by value, then in the file's order
  std::size_t num_ranked = 0;
  std::size_t num_missing = 0;  // did not fail, but have no such statistic above 0
  std::map<v1::FailureClass, std::size_t> failures;
};

// The statistic of one row that did not fail; nullopt: it has none, or one that is not above 0.
std::optional<double> value_of(const v1::RecordedRow& row, Statistic statistic);

Ranking rank(std::span<const v1::RecordedRow> rows, Statistic statistic);

}  // namespace assay::tuning
