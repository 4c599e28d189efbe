#include "server/board.h"

#include "server/lookup.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::server {

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

}  // namespace assay::server
