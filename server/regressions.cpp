#include "server/regressions.h"

#include "history/regressions.h"
#include "proto/status.h"
#include "proto/text.h"
#include "server/history_map.h"
#include "server/points.h"
#include "server/trends.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

constexpr std::size_t kMaxReasonBytes = 1'000;
constexpr std::uint32_t kAllRegressions = 1'000;  // of one series

const v1::SeriesPoint* find_point(const v1::Trend& trend, std::int64_t experiment_id) {
  const auto found = std::ranges::find(
      trend.points(), experiment_id, [](const auto& point) { return point.experiment_id(); });
  return found == trend.points().end() ? nullptr : &*found;
}

// The last run before the slow one that has a time.
const v1::SeriesPoint* point_before(const v1::Trend& trend, std::int64_t experiment_id) {
  const v1::SeriesPoint* before = nullptr;
  for (const v1::SeriesPoint& point : trend.points()) {
    if (point.experiment_id() == experiment_id) {
      return before;
    }
    if (!point.rejected()) {
      before = &point;
    }
  }
  return nullptr;
}

// Where a regression begins may have moved.
void set_ends(const v1::Trend& trend, v1::Regression& regression) {
  const v1::SeriesPoint* const slow = find_point(trend, regression.experiment_id());
  if (slow == nullptr) {
    return;
  }
  regression.set_commit(slow->commit());
  if (const v1::SeriesPoint* const fast = point_before(trend, regression.experiment_id())) {
    regression.set_previous_experiment_id(fast->experiment_id());
    regression.set_previous_commit(fast->commit());
  }
}

absl::StatusOr<std::vector<v1::Regression>> stored_regressions(const db::Store& store,
                                                               std::int64_t series_id) {
  v1::ListRegressionsRequest request;
  request.set_series_id(series_id);
  request.set_page_size(kAllRegressions);
  ASSAY_ASSIGN_OR_RETURN(const v1::ListRegressionsResponse response,
                         store.list_regressions(request));
  return std::vector<v1::Regression>(response.regressions().rbegin(),
                                     response.regressions().rend());
}

// Those that are new or changed.
std::vector<v1::Regression> updated(const SeriesLook& look,
                                    std::vector<v1::Regression> stored,
                                    std::int64_t now_ns) {
  std::vector<history::Regression> before;
  before.reserve(stored.size());
  for (const v1::Regression& regression : stored) {
    before.push_back(plain_regression(regression));
  }
  const std::vector<v1::SeriesPoint> points(look.trend.points().begin(), look.trend.points().end());
  const std::vector<history::Regression> now =
      history::update(before, plain_points(points), look.changes);
  std::vector<v1::Regression> changed;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool is_new = i >= stored.size();
    v1::Regression regression = is_new ? v1::Regression() : stored[i];
    set_regression(now[i], regression);
    if (is_new) {
      *regression.mutable_series() = look.trend.series();
      regression.set_detected_ns(now_ns);
    }
    set_ends(look.trend, regression);
    if (is_new || regression.state() != stored[i].state()) {
      regression.set_changed_ns(now_ns);
    }
    if (is_new || regression.SerializeAsString() != stored[i].SerializeAsString()) {
      changed.push_back(std::move(regression));
    }
  }
  return changed;
}

bool is_kept(v1::SeriesEventKind kind) {
  return kind == v1::TIME_CHANGED || kind == v1::BITS_CHANGED || kind == v1::CODE_CHANGED ||
         kind == v1::RESOURCES_CHANGED;
}

absl::StatusOr<SeriesLook> look_whole(const db::Store& store, const v1::Series& series) {
  db::PointsRequest request;
  request.series = series;
  request.max_points = kMaxTrendPoints;
  return look_at(store, request);
}

// Null: the configuration is of other arms.
const v1::Arm* arm_of(const v1::Configuration& configuration, const v1::Series& series) {
  if (proto::text_of(configuration.baseline().arm()) == series.arm()) {
    return &configuration.baseline().arm();
  }
  return proto::text_of(configuration.candidate().arm()) == series.arm()
             ? &configuration.candidate().arm()
             : nullptr;
}

// The stage's point of the re-run; why there is none.
absl::StatusOr<v1::SeriesPoint> measured_again(const db::Store& store,
                                               const v1::Experiment& rerun,
                                               const v1::Series& series) {
  v1::GetRequest get;
  get.set_experiment_id(rerun.experiment_id());
  get.set_include_samples(true);
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment whole, store.get(get));
  if (whole.configurations_size() != 1) {
    return absl::FailedPreconditionError("the run again measured nothing");
  }
  const v1::Configuration& configuration = whole.configurations(0);
  if (configuration.outcome() != v1::FINISHED) {
    return absl::FailedPreconditionError(
        absl::StrCat("the run again did not finish: ", configuration.message()));
  }
  for (const db::SeriesEntry& entry :
       baseline_points(whole.spec(), whole.device(), configuration)) {
    const v1::Series& again = entry.series;
    if (again.device_uuid() == series.device_uuid() && again.stage() == series.stage() &&
        again.arm() == series.arm() && again.workload() == series.workload() &&
        again.cache_mode() == series.cache_mode() && again.launch_mode() == series.launch_mode() &&
        again.timing_source() == series.timing_source()) {
      return entry.point;
    }
  }
  return absl::FailedPreconditionError("the run again gave no time that can be compared");
}

// Why an ended re-run says nothing; empty: it may.
std::string why_not_carried_out(const v1::Experiment& rerun) {
  if (rerun.state() == v1::CANCELLED) {
    return "the run again was cancelled";
  }
  return rerun.state() == v1::DONE ? "" : absl::StrCat("the run again failed: ", rerun.message());
}

}  // namespace

absl::Status look_again(db::Store& store, std::int64_t series_id, std::int64_t now_ns) {
  db::SeriesUpdate update;
  ASSAY_ASSIGN_OR_RETURN(update.series, store.series(series_id));
  ASSAY_ASSIGN_OR_RETURN(const SeriesLook look, look_whole(store, update.series));
  if (!look.trend.points().empty()) {
    update.since_ns = look.trend.points(0).measured_ns();
  }
  for (const v1::SeriesEvent& event : look.trend.events()) {
    if (is_kept(event.kind())) {
      update.changes.push_back(event);
    }
  }
  if (look.trend.missing().empty()) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Regression> stored,
                           stored_regressions(store, series_id));
    update.regressions = updated(look, std::move(stored), now_ns);
  }
  return store.update_series(update);
}

absl::Status pass_over(db::Store& store, std::int64_t series_id) {
  db::SeriesUpdate update;
  ASSAY_ASSIGN_OR_RETURN(update.series, store.series(series_id));
  update.since_ns = std::numeric_limits<std::int64_t>::max();
  return store.update_series(update);
}

absl::StatusOr<v1::SubmitRequest> confirmation_of(const db::Store& store,
                                                  const v1::Regression& regression,
                                                  const std::string& device) {
  const v1::Series& series = regression.series();
  v1::GetRequest get;
  get.set_experiment_id(regression.experiment_id());
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment slow, store.get(get));
  const auto measured =
      std::ranges::find_if(slow.configurations(), [&](const v1::Configuration& configuration) {
        return proto::text_of(configuration.workload()) == series.workload() &&
               arm_of(configuration, series) != nullptr;
      });
  if (measured == slow.configurations().end()) {
    return absl::FailedPreconditionError("its first slow experiment is no longer whole");
  }
  v1::SubmitRequest request;
  request.set_request_id(absl::StrCat("assay: regression ",
                                      regression.regression_id(),
                                      " again after ",
                                      regression.confirmation_experiment_id()));
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(v1::MEASURE);
  spec.set_operator_name(series.operator_name());
  spec.set_source_digest(slow.spec().source_digest());
  spec.set_device(device);
  for (const v1::Setting& setting : measured->workload().axes()) {
    v1::Axis& axis = *spec.add_axes();
    axis.set_name(setting.name());
    axis.add_values(setting.value());
  }
  spec.set_seed(measured->workload().seed());
  *spec.mutable_baseline() = *arm_of(*measured, series);
  spec.set_cache_mode(series.cache_mode());
  spec.set_launch_mode(series.launch_mode());
  spec.set_timing_source(series.timing_source());
  spec.set_num_calls(slow.spec().num_calls());
  spec.set_admission_ns(slow.spec().admission_ns());
  spec.set_confirms_regression_id(regression.regression_id());
  v1::Setting& origin = *spec.mutable_context()->add_labels();
  origin.set_name("origin");
  origin.set_value("confirmation");
  return request;
}

void give_up(const std::string& why, std::int64_t now_ns, v1::Regression& regression) {
  regression.set_state(v1::UNCONFIRMABLE);
  regression.set_reason(absl::StrCat("unconfirmable: ", why));
  regression.set_changed_ns(now_ns);
}

absl::Status decide(const db::Store& store,
                    const v1::Experiment& rerun,
                    std::int64_t now_ns,
                    v1::Regression& regression) {
  if (const std::string why = why_not_carried_out(rerun); !why.empty()) {
    give_up(why, now_ns, regression);
    return absl::OkStatus();
  }
  const absl::StatusOr<v1::SeriesPoint> again = measured_again(store, rerun, regression.series());
  if (!again.ok()) {
    if (!absl::IsFailedPrecondition(again.status())) {
      return again.status();
    }
    give_up(std::string(again.status().message()), now_ns, regression);
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::Series series, store.series(regression.series().series_id()));
  const absl::StatusOr<SeriesLook> look = look_whole(store, series);
  if (!look.ok() && !absl::IsInvalidArgument(look.status())) {
    return look.status();
  }
  const std::string why_not =
      look.ok() ? look->trend.missing() : std::string(look.status().message());
  if (!why_not.empty()) {
    give_up(why_not, now_ns, regression);
    return absl::OkStatus();
  }
  const std::vector<history::SeriesPoint> runs = plain_points(std::span(&*again, 1));
  ASSAY_ASSIGN_OR_RETURN(const history::Regression decided,
                         history::confirm(plain_regression(regression), look->changes, runs));
  set_regression(decided, regression);
  regression.set_changed_ns(now_ns);
  return absl::OkStatus();
}

absl::StatusOr<v1::Regression> acknowledge(db::Store& store,
                                           const v1::AcknowledgeRequest& request,
                                           std::int64_t now_ns) {
  if (request.reason().empty() || request.reason().size() > kMaxReasonBytes) {
    return absl::InvalidArgumentError("reason: must be 1 to 1,000 bytes");
  }
  ASSAY_ASSIGN_OR_RETURN(v1::Regression regression, store.regression(request.regression_id()));
  const absl::StatusOr<history::Regression> acknowledged =
      history::acknowledge(plain_regression(regression), request.reason());
  if (!acknowledged.ok()) {
    return proto::annotate(acknowledged.status(), "regression_id");
  }
  set_regression(*acknowledged, regression);
  regression.set_changed_ns(now_ns);
  ASSAY_RETURN_IF_ERROR(store.set_regression(regression));
  return regression;
}

}  // namespace assay::server
