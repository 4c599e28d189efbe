// What a replay found, as people and programs read it.
#pragma once

#include "client/recorded_file.h"
#include "client/table.h"
#include "tuning/ranking.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::client {

// Means of (best found / best there is) after some tries; nullopt: nothing found in some repeat.
struct StrategyMeans {
  std::string strategy;
  std::vector<std::optional<double>> means;
};

struct Replay {
  tuning::Statistic statistic = tuning::Statistic::kMedian;
  tuning::Ranking ranking;
  std::vector<std::size_t> tries;
  std::vector<StrategyMeans> strategies;
  std::uint64_t seed = 0;
  std::uint32_t num_repeats = 0;
};

// Shows at most 20 rows of the tie set, JSON all. csv: one row for each number of tries.
std::string replay_text(const RecordedFile& file, const Replay& replay, Format format);

}  // namespace assay::client
