#include "server/history_map.h"

#include <cmath>

namespace assay::server {
namespace {

v1::SeriesEventKind kind_of(history::EventKind kind) {
  switch (kind) {
    case history::EventKind::kRejected:
      return v1::SERIES_EVENT_KIND_UNSPECIFIED;
    case history::EventKind::kFamily:
    case history::EventKind::kBits:
      return v1::BITS_CHANGED;
    case history::EventKind::kCode:
      return v1::CODE_CHANGED;
    case history::EventKind::kRegisters:
    case history::EventKind::kSpills:
      return v1::RESOURCES_CHANGED;
  }
  return v1::SERIES_EVENT_KIND_UNSPECIFIED;
}

v1::RegressionState state_of(history::RegressionState state) {
  switch (state) {
    case history::RegressionState::kDetected:
      return v1::DETECTED;
    case history::RegressionState::kConfirmed:
      return v1::CONFIRMED;
    case history::RegressionState::kRefuted:
      return v1::REFUTED;
    case history::RegressionState::kUnconfirmable:
      return v1::UNCONFIRMABLE;
    case history::RegressionState::kAcknowledged:
      return v1::ACKNOWLEDGED;
    case history::RegressionState::kFixed:
      return v1::FIXED;
  }
  return v1::REGRESSION_STATE_UNSPECIFIED;
}

history::RegressionState plain_state(v1::RegressionState state) {
  switch (state) {
    case v1::CONFIRMED:
      return history::RegressionState::kConfirmed;
    case v1::REFUTED:
      return history::RegressionState::kRefuted;
    case v1::UNCONFIRMABLE:
      return history::RegressionState::kUnconfirmable;
    case v1::ACKNOWLEDGED:
      return history::RegressionState::kAcknowledged;
    case v1::FIXED:
      return history::RegressionState::kFixed;
    default:
      return history::RegressionState::kDetected;
  }
}

}  // namespace

std::vector<history::SeriesPoint> plain_points(std::span<const v1::SeriesPoint> points) {
  std::vector<history::SeriesPoint> plain;
  plain.reserve(points.size());
  for (const v1::SeriesPoint& point : points) {
    plain.push_back({.experiment_id = point.experiment_id(),
                     .median_ns = point.median_ns(),
                     .lower_quartile_ns = point.lower_quartile_ns(),
                     .upper_quartile_ns = point.upper_quartile_ns(),
                     .num_samples = point.num_samples(),
                     .code_digest = point.code_digest(),
                     .bits_digest = point.bits_digest(),
                     .family = point.family(),
                     .num_registers = point.num_registers(),
                     .local_bytes = point.local_bytes(),
                     .rejected = point.rejected()});
  }
  return plain;
}

void set_changes(const history::Changes& changes, v1::Trend& trend) {
  for (const history::Segment& segment : changes.segments) {
    v1::Segment& message = *trend.add_segments();
    message.set_first(static_cast<std::uint32_t>(segment.first));
    message.set_last(static_cast<std::uint32_t>(segment.last));
    message.set_level_ns(std::llround(segment.level_ns));
    message.set_noise(segment.noise);
  }
  for (const history::ChangePoint& change : changes.change_points) {
    v1::ChangePoint& message = *trend.add_change_points();
    message.set_first(static_cast<std::uint32_t>(change.first));
    message.set_ratio(change.ratio);
    message.set_ratio_low(change.ratio_low);
    message.set_ratio_high(change.ratio_high);
  }
  if (changes.pending) {
    v1::ChangePoint& message = *trend.add_change_points();
    message.set_first(static_cast<std::uint32_t>(changes.pending->first));
    message.set_ratio(changes.pending->ratio);
    message.set_pending(true);
  }
  trend.set_noise(changes.noise);
}

std::vector<v1::SeriesEvent> events_of(std::span<const history::Event> events) {
  std::vector<v1::SeriesEvent> messages;
  for (const history::Event& event : events) {
    const v1::SeriesEventKind kind = kind_of(event.kind);
    if (kind != v1::SERIES_EVENT_KIND_UNSPECIFIED) {
      v1::SeriesEvent& message = messages.emplace_back();
      message.set_kind(kind);
      message.set_experiment_id(event.experiment_id);
      message.set_point(static_cast<std::uint32_t>(event.point));
      message.set_detail(event.message);
    }
  }
  return messages;
}

history::Regression plain_regression(const v1::Regression& regression) {
  return {.experiment_id = regression.experiment_id(),
          .code_digest = regression.code_digest(),
          .old_level_ns = static_cast<double>(regression.before_ns()),
          .new_level_ns = static_cast<double>(regression.after_ns()),
          .num_old_runs = regression.num_before(),
          .ratio = regression.ratio(),
          .ratio_low = regression.ratio_low(),
          .ratio_high = regression.ratio_high(),
          .coverage = regression.coverage(),
          .state = plain_state(regression.state()),
          .reason = regression.reason(),
          .acknowledgement = regression.acknowledged_reason(),
          .fixed_experiment_id = regression.fixed_experiment_id()};
}

void set_regression(const history::Regression& plain, v1::Regression& regression) {
  regression.set_experiment_id(plain.experiment_id);
  regression.set_code_digest(plain.code_digest);
  regression.set_before_ns(std::llround(plain.old_level_ns));
  regression.set_after_ns(std::llround(plain.new_level_ns));
  regression.set_num_before(plain.num_old_runs);
  regression.set_ratio(plain.ratio);
  regression.set_ratio_low(plain.ratio_low);
  regression.set_ratio_high(plain.ratio_high);
  regression.set_coverage(plain.coverage);
  regression.set_state(state_of(plain.state));
  regression.set_reason(plain.reason);
  regression.set_acknowledged_reason(plain.acknowledgement);
  regression.set_fixed_experiment_id(plain.fixed_experiment_id);
}

}  // namespace assay::server
