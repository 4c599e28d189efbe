#include "server/board.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kShowInterval{100};

}  // namespace

void Board::set_progress(std::int64_t experiment_id, std::uint32_t num_finished, double progress) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(experiment_id);
  if (live != live_.end()) {
    live->second.num_finished = num_finished;
    live->second.progress = progress;
    bump(live->second, false);
  }
}

void Board::set_waiting(std::int64_t experiment_id, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(experiment_id);
  if (live != live_.end() && live->second.waiting != why) {
    live->second.waiting = why;
    bump(live->second, true);
  }
}

void Board::bump(Live& live, bool urgent) {
  ++live.version;
  live.urgent = urgent ? live.version : live.urgent;
  changed_.notify_all();
}

void Board::bump_queue(const DeviceState& state) {
  for (const std::int64_t waiting : state.queue) {
    bump(live_.at(waiting), true);
  }
}

std::optional<std::int64_t> Board::remaining_ns(const Live& live, bool running) const {
  const std::int64_t left = live.num_configurations - std::int64_t{live.num_finished};
  if (running && live.num_finished > 0) {
    const std::int64_t so_far = std::chrono::nanoseconds(Clock::now() - live.started).count();
    return so_far / live.num_finished * left;
  }
  if (live.typical_ns == 0) {
    return std::nullopt;
  }
  return live.typical_ns * left;
}

void Board::overlay(v1::Experiment& experiment) const {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(experiment.experiment_id());
  if (found == live_.end()) {
    return;
  }
  const DeviceState& state = devices_.at(found->second.device);
  experiment.set_progress(found->second.progress);
  if (state.running == experiment.experiment_id()) {
    experiment.set_estimate_ns(remaining_ns(found->second, true).value_or(0));
    if (!found->second.waiting.empty()) {
      experiment.set_message(found->second.waiting);
    }
    return;
  }
  if (state.set_aside == experiment.experiment_id()) {
    experiment.set_message(absl::StrCat("makes way for experiment ", state.running));
    return;
  }
  const auto place = std::ranges::find(state.queue, experiment.experiment_id());
  if (place == state.queue.end()) {
    return;
  }
  experiment.set_queue_position(static_cast<std::uint32_t>(place - state.queue.begin()) + 1);
  std::optional<std::int64_t> total = 0;
  if (state.running != 0) {
    total = remaining_ns(live_.at(state.running), true);
  }
  for (auto ahead = state.queue.begin(); total.has_value() && ahead != place + 1; ++ahead) {
    const std::optional<std::int64_t> more = remaining_ns(live_.at(*ahead), false);
    total = more.has_value() ? std::optional(*total + *more) : std::nullopt;
  }
  experiment.set_estimate_ns(total.value_or(0));
}

Board::Change Board::wait_for_change(std::int64_t experiment_id,
                                     std::uint64_t seen,
                                     std::chrono::milliseconds bound) const {
  std::unique_lock lock(mutex_);
  const auto version = [&]() -> std::uint64_t {
    const auto live = live_.find(experiment_id);
    return live == live_.end() ? 0 : live->second.version;
  };
  const auto urgent = [&] {
    const auto live = live_.find(experiment_id);
    return closed_ || live == live_.end() || live->second.urgent > seen;
  };
  changed_.wait_for(lock, bound, [&] { return urgent() || version() != seen; });
  if (version() != seen) {
    changed_.wait_for(lock, kShowInterval, urgent);
  }
  return {.version = version(), .live = version() != 0, .closed = closed_};
}

bool Board::wait_for_end(std::int64_t experiment_id, std::chrono::milliseconds bound) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, bound, [&] { return !live_.contains(experiment_id); });
}

}  // namespace assay::server
