// Between the messages and the plain figures of history/: the only place that knows both.
#pragma once

#include "history/change_points.h"
#include "history/events.h"
#include "history/regressions.h"
#include "proto/assay.pb.h"

#include <span>
#include <vector>

namespace assay::server {

std::vector<history::SeriesPoint> plain_points(std::span<const v1::SeriesPoint> points);

// Sets segments, change points and noise.
void set_changes(const history::Changes& changes, v1::Trend& trend);

// What is no event of a trend (a rejected run is marked itself) is left out.
std::vector<v1::SeriesEvent> events_of(std::span<const history::Event> events);

history::Regression plain_regression(const v1::Regression& regression);

// Sets what history/ decides; who, where and when stay.
void set_regression(const history::Regression& plain, v1::Regression& regression);

}  // namespace assay::server
