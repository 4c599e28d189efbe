#include "server/board.h"

#include "server/lookup.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kShowInterval{100};

}  // namespace

Board::Board(const std::vector<v1::Device>& devices) {
  for (const v1::Device& device : devices) {
    names_.push_back(device.name());
    devices_[device.name()].device = device;
  }
}

void Board::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Board::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

bool Board::has_device(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  return devices_.contains(name);
}

std::vector<std::string> Board::device_names() const {
  return names_;
}

v1::ListDevicesResponse Board::devices(std::chrono::system_clock::time_point deadline) const {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] {
    return closed_ || std::ranges::all_of(devices_, [](const auto& entry) {
             return entry.second.asked || entry.second.running != 0;
           });
  });
  v1::ListDevicesResponse response;
  for (const std::string& name : names_) {
    const DeviceState& state = devices_.at(name);
    v1::Device& device = *response.add_devices();
    device = state.device;
    device.set_queue_length(static_cast<std::uint32_t>(state.queue.size()));
    device.set_running_experiment_id(state.running);
    if (!state.asked) {
      device.set_available(false);
      device.set_reason("its runner is starting");
    }
  }
  return response;
}

void Board::set_described(const std::string& device, Description description) {
  const std::lock_guard lock(mutex_);
  DeviceState& state = devices_.at(device);
  v1::Device& fresh = description.device;
  fresh.set_name(device);
  *fresh.mutable_launch_prefix() = state.device.launch_prefix();
  fresh.set_num_runner_restarts(state.device.num_runner_restarts());
  fresh.set_last_runner_failure(state.device.last_runner_failure());
  state.device = std::move(fresh);
  state.operators = std::move(description.operators);
  state.asked = true;
  changed_.notify_all();
}

void Board::set_unavailable(const std::string& device, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  DeviceState& state = devices_.at(device);
  state.device.set_available(false);
  state.device.set_reason(reason);
  state.asked = true;
  changed_.notify_all();
}

void Board::set_restarts(const std::string& device, std::uint32_t num, const std::string& failure) {
  const std::lock_guard lock(mutex_);
  v1::Device& known = devices_.at(device).device;
  known.set_num_runner_restarts(num);
  known.set_last_runner_failure(failure);
}

absl::StatusOr<Description> Board::description_of(const DeviceState& state) const {
  if (!state.device.available()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "device `", state.device.name(), "` is not available: ", state.device.reason()));
  }
  return Description{.device = state.device, .operators = state.operators, .restrictions = {}};
}

absl::StatusOr<Description> Board::describe(const std::string& device,
                                            std::chrono::system_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  DeviceState& state = devices_.at(device);
  if (state.asked && !state.device.available() && state.running == 0) {
    state.asked = false;
    state.probe = true;
    changed_.notify_all();
  }
  const bool known = changed_.wait_until(lock, deadline, [&] { return state.asked || closed_; });
  if (closed_) {
    return absl::UnavailableError("the daemon is stopping");
  }
  if (!known) {
    return absl::DeadlineExceededError(
        absl::StrCat("the runner of device `", device, "` is still starting"));
  }
  return description_of(state);
}

std::optional<v1::OperatorInfo> Board::operator_info(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& device : names_) {
    if (const auto* info = find_named(devices_.at(device).operators, name)) {
      return *info;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Board::first_available() const {
  const std::lock_guard lock(mutex_);
  for (const std::string& name : names_) {
    const DeviceState& state = devices_.at(name);
    if (state.asked && state.device.available()) {
      return name;
    }
  }
  return std::nullopt;
}

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
