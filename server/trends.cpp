#include "server/trends.h"

#include "history/events.h"
#include "history/regressions.h"
#include "proto/status.h"
#include "server/history_map.h"
#include "server/series_choice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

namespace assay::server {
namespace {

constexpr std::uint32_t kDefaultTrendPoints = 500;

absl::Status check_request(const v1::TrendRequest& request) {
  if (request.series_id() < 0) {
    return absl::InvalidArgumentError("series_id: must not be negative");
  }
  if (request.max_points() > kMaxTrendPoints) {
    return absl::InvalidArgumentError("max_points: must be in [0, 1,000]");
  }
  if (!v1::SeriesOrder_IsValid(request.order())) {
    return absl::InvalidArgumentError("order: is no order of a series");
  }
  if (!v1::CacheMode_IsValid(request.cache_mode())) {
    return absl::InvalidArgumentError("cache_mode: is no cache mode");
  }
  if (!v1::LaunchMode_IsValid(request.launch_mode())) {
    return absl::InvalidArgumentError("launch_mode: is no launch mode");
  }
  if (!v1::TimingSource_IsValid(request.timing_source())) {
    return absl::InvalidArgumentError("timing_source: is no timing source");
  }
  return absl::OkStatus();
}

absl::StatusOr<history::ChangeOptions> options_for(const db::Store& store,
                                                   const v1::Series& series) {
  v1::NoiseFloor key;
  key.set_device_uuid(series.device_uuid());
  key.set_operator_name(series.operator_name());
  key.set_workload(series.workload());
  key.set_cache_mode(series.cache_mode());
  key.set_launch_mode(series.launch_mode());
  key.set_timing_source(series.timing_source());
  ASSAY_ASSIGN_OR_RETURN(const std::optional<v1::NoiseFloor> floor, store.noise_floor(key));
  history::ChangeOptions options;
  options.noise_floor = floor ? std::min(floor->noise_floor(), 1.0) : 0;
  return options;
}

void add_event(v1::SeriesEventKind kind,
               std::uint32_t place,
               std::string detail,
               v1::Trend& trend) {
  v1::SeriesEvent& event = *trend.add_events();
  event.set_kind(kind);
  event.set_point(place);
  event.set_experiment_id(trend.points(static_cast<int>(place)).experiment_id());
  event.set_detail(std::move(detail));
}

void add_time_events(v1::Trend& trend) {
  for (const v1::ChangePoint& change : trend.change_points()) {
    if (!change.pending()) {
      add_event(v1::TIME_CHANGED,
                change.first(),
                absl::StrFormat("%.4f of the level before [%.4f, %.4f]",
                                change.ratio(),
                                change.ratio_low(),
                                change.ratio_high()),
                trend);
    }
  }
}

// Empty: the same, or one of them is not known.
std::string what_changed(std::string_view what, const std::string& before, const std::string& now) {
  return before == now || before.empty() || now.empty()
             ? ""
             : absl::StrCat(std::string(what), " ", before, ", now ", now);
}

void add_environment_events(v1::Trend& trend) {
  for (int i = 1; i < trend.points_size(); ++i) {
    const v1::SeriesPoint& before = trend.points(i - 1);
    const v1::SeriesPoint& now = trend.points(i);
    std::string detail = what_changed("driver", before.driver_version(), now.driver_version());
    const std::string toolkit =
        what_changed("toolkit", before.toolkit_version(), now.toolkit_version());
    absl::StrAppend(&detail, detail.empty() || toolkit.empty() ? "" : "; ", toolkit);
    if (!detail.empty()) {
      add_event(v1::ENVIRONMENT_CHANGED, static_cast<std::uint32_t>(i), detail, trend);
    }
  }
}

// Among points with bits of the epoch's family: where its experiment is, else at the newest before
// it was accepted.
std::optional<std::uint32_t> place_of(const v1::Golden& epoch, const v1::Trend& trend) {
  std::optional<std::uint32_t> place;
  for (int i = 0; i < trend.points_size(); ++i) {
    const v1::SeriesPoint& point = trend.points(i);
    if (point.family() != epoch.family()) {
      continue;
    }
    if (point.experiment_id() == epoch.experiment_id()) {
      return static_cast<std::uint32_t>(i);
    }
    if (point.measured_ns() <= epoch.accepted_ns() &&
        (!place || point.measured_ns() >= trend.points(static_cast<int>(*place)).measured_ns())) {
      place = static_cast<std::uint32_t>(i);
    }
  }
  return place;
}

absl::Status add_epochs(const db::Store& store, v1::Trend& trend) {
  ASSAY_ASSIGN_OR_RETURN(
      const std::vector<v1::Golden> epochs,
      store.epochs_of(trend.series().operator_name(), trend.series().workload()));
  for (const v1::Golden& epoch : epochs) {
    if (const std::optional<std::uint32_t> place = place_of(epoch, trend)) {
      add_event(v1::BITS_ACCEPTED,
                *place,
                absl::StrCat("epoch ", epoch.epoch(), ": ", epoch.reason()),
                trend);
    }
  }
  return absl::OkStatus();
}

void sort_events(v1::Trend& trend) {
  std::stable_sort(trend.mutable_events()->begin(),
                   trend.mutable_events()->end(),
                   [](const v1::SeriesEvent& a, const v1::SeriesEvent& b) {
                     return std::tuple(a.point(), a.kind()) < std::tuple(b.point(), b.kind());
                   });
}

}  // namespace

absl::StatusOr<SeriesLook> look_at(const db::Store& store, const db::PointsRequest& request) {
  SeriesLook look;
  v1::Trend& trend = look.trend;
  *trend.mutable_series() = request.series;
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::SeriesPoint> points, store.points(request));
  trend.mutable_points()->Assign(points.begin(), points.end());
  if (request.series.series_id() == 0) {
    trend.mutable_series()->set_num_points(static_cast<std::uint32_t>(points.size()));
  }
  ASSAY_ASSIGN_OR_RETURN(const history::ChangeOptions options, options_for(store, request.series));
  const std::vector<history::SeriesPoint> plain = plain_points(points);
  absl::StatusOr<history::Changes> changes = history::find_changes(plain, options);
  if (changes.ok()) {
    look.changes = *std::move(changes);
    set_changes(look.changes, trend);
  } else if (absl::IsFailedPrecondition(changes.status())) {
    trend.set_missing(std::string(changes.status().message()));
  } else {
    return changes.status();
  }
  add_time_events(trend);
  for (v1::SeriesEvent& event : events_of(history::events_of(plain))) {
    *trend.add_events() = std::move(event);
  }
  add_environment_events(trend);
  return look;
}

absl::StatusOr<v1::TrendResponse> trend(const db::Store& store,
                                        const v1::TrendRequest& request,
                                        const v1::OperatorInfo* info) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Series> chosen, choose_series(store, request, info));
  db::PointsRequest asked;
  asked.order = request.order() == v1::SERIES_ORDER_UNSPECIFIED ? v1::BY_TIME : request.order();
  asked.max_points = request.max_points() == 0 ? kDefaultTrendPoints : request.max_points();
  asked.branch = request.branch();
  v1::TrendResponse response;
  for (const v1::Series& series : chosen) {
    asked.series = series;
    ASSAY_ASSIGN_OR_RETURN(SeriesLook look, look_at(store, asked));
    ASSAY_RETURN_IF_ERROR(add_epochs(store, look.trend));
    sort_events(look.trend);
    *response.add_trends() = std::move(look.trend);
  }
  return response;
}

}  // namespace assay::server
