// Times over runs, and where they change: points of the store, looked at by history/.
#pragma once

#include "db/store.h"
#include "history/change_points.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace assay::server {

inline constexpr std::uint32_t kMaxTrendPoints = 1'000;

// A series as it is now. Not enough points are no error: `trend.missing` says so, and there are no
// changes.
struct SeriesLook {
  v1::Trend trend;
  history::Changes changes;
};

absl::StatusOr<SeriesLook> look_at(const db::Store& store, const db::PointsRequest& request);

// As proto/assay.proto says; `info` as of choose_series.
absl::StatusOr<v1::TrendResponse> trend(const db::Store& store,
                                        const v1::TrendRequest& request,
                                        const v1::OperatorInfo* info);

}  // namespace assay::server
