#include "server/board.h"

#include <algorithm>
#include <utility>

namespace assay::server {

void Board::enqueue(const v1::Experiment& experiment, std::int64_t typical_ns) {
  const std::lock_guard lock(mutex_);
  if (live_.contains(experiment.experiment_id())) {
    return;
  }
  Live& live = live_[experiment.experiment_id()];
  live.device = experiment.spec().device();
  live.num_configurations = experiment.num_configurations();
  live.typical_ns = typical_ns;
  live.is_sweep = experiment.spec().kind() == v1::SWEEP;
  live.is_own = experiment.spec().confirms_regression_id() != 0;
  std::deque<std::int64_t>& queue = devices_.at(live.device).queue;
  queue.insert(std::ranges::lower_bound(queue, experiment.experiment_id()),
               experiment.experiment_id());
  changed_.notify_all();
}

Board::Job Board::next_job(const std::string& device) {
  std::unique_lock lock(mutex_);
  DeviceState& state = devices_.at(device);
  changed_.wait(lock, [&] { return closed_ || state.probe || !state.queue.empty(); });
  if (closed_) {
    return {.kind = Job::Kind::kStop};
  }
  if (state.probe) {
    state.probe = false;
    return {.kind = Job::Kind::kProbe};
  }
  state.running = take_next(state);
  Live& live = live_.at(state.running);
  live.started = Clock::now();
  bump(live, true);
  bump_queue(state);
  return {.kind = Job::Kind::kExperiment, .experiment_id = state.running};
}

std::int64_t Board::take_next(DeviceState& state) const {
  auto next =
      std::ranges::find_if(state.queue, [this](std::int64_t id) { return !live_.at(id).is_own; });
  if (next == state.queue.end()) {
    next = state.queue.begin();
  }
  const std::int64_t taken = *next;
  state.queue.erase(next);
  return taken;
}

std::optional<std::int64_t> Board::take_before_sweep(const std::string& device) {
  const std::lock_guard lock(mutex_);
  DeviceState& state = devices_.at(device);
  const auto found = std::ranges::find_if(state.queue, [this](std::int64_t id) {
    return !live_.at(id).is_sweep && !live_.at(id).is_own;
  });
  if (closed_ || state.set_aside != 0 || found == state.queue.end()) {
    return std::nullopt;
  }
  state.set_aside = std::exchange(state.running, *found);
  state.queue.erase(found);
  Live& live = live_.at(state.running);
  live.started = Clock::now();
  bump(live, true);
  bump(live_.at(state.set_aside), true);
  bump_queue(state);
  return state.running;
}

bool Board::take_from_queue(std::int64_t experiment_id) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(experiment_id);
  if (live == live_.end()) {
    return false;
  }
  DeviceState& state = devices_.at(live->second.device);
  const bool taken = std::erase(state.queue, experiment_id) > 0;
  bump_queue(state);
  return taken;
}

void Board::put_back(std::int64_t experiment_id) {
  const std::lock_guard lock(mutex_);
  std::deque<std::int64_t>& queue = devices_.at(live_.at(experiment_id).device).queue;
  queue.insert(std::ranges::lower_bound(queue, experiment_id), experiment_id);
  changed_.notify_all();
}

std::optional<std::string> Board::ask_to_cancel(std::int64_t experiment_id) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(experiment_id);
  if (live == live_.end()) {
    return std::nullopt;
  }
  const DeviceState& state = devices_.at(live->second.device);
  if (state.running != experiment_id && state.set_aside != experiment_id) {
    return std::nullopt;
  }
  live->second.cancel = true;
  return state.running == experiment_id ? std::optional(live->second.device) : std::nullopt;
}

bool Board::cancel_asked(std::int64_t experiment_id) const {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(experiment_id);
  return live != live_.end() && live->second.cancel;
}

void Board::end(std::int64_t experiment_id) {
  const std::lock_guard lock(mutex_);
  const auto live = live_.find(experiment_id);
  if (live == live_.end()) {
    return;
  }
  DeviceState& state = devices_.at(live->second.device);
  if (state.running == experiment_id) {
    state.running = std::exchange(state.set_aside, 0);
  }
  live_.erase(live);
  changed_.notify_all();
}

}  // namespace assay::server
