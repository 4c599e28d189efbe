// Series of runs with a digest of their code, and what is found in them.
#pragma once

#include "history/regressions.h"

#include <string>
#include <vector>

namespace assay::history {

// `num_runs` of one code.
struct Version {
  int num_runs;
  std::int64_t median_ns;
  std::string code_digest;
};

// Experiments 1, 2, 3, ...
inline std::vector<SeriesPoint> series_of(const std::vector<Version>& versions) {
  std::vector<SeriesPoint> series;
  for (const Version& version : versions) {
    for (int run = 0; run < version.num_runs; ++run) {
      SeriesPoint& point = series.emplace_back();
      point.experiment_id = static_cast<std::int64_t>(series.size());
      point.median_ns = version.median_ns;
      point.code_digest = version.code_digest;
    }
  }
  return series;
}

inline std::vector<Regression> regressions_in(const std::vector<SeriesPoint>& series,
                                              const std::vector<Regression>& stored = {}) {
  return update(stored, series, find_changes(series).value());
}

}  // namespace assay::history
