// What the daemon's tests share: a folder, a store, and a scheduler over the fake runner.
#pragma once

#include "db/store.h"
#include "server/config.h"
#include "server/goldens.h"
#include "server/scheduler.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::server {

inline constexpr std::chrono::seconds kPatience{20};

inline v1::DeviceConfig device_config(const std::string& name,
                                      const std::vector<std::string>& prefix = {}) {
  v1::DeviceConfig device;
  device.set_name(name);
  device.set_backend("cpu");
  device.set_start_timeout_ns(10'000'000'000);
  for (const std::string& argument : prefix) {
    device.add_launch_prefix(argument);
  }
  return device;
}

using AxisValues = std::vector<std::pair<std::string, std::vector<std::string>>>;

// A comparison of base with `candidate` of the fake operator, small enough to be quick.
inline v1::SubmitRequest compare_request(const std::string& request_id,
                                         const AxisValues& axes = {},
                                         const std::string& candidate = "twin") {
  v1::SubmitRequest request;
  request.set_request_id(request_id);
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(v1::COMPARE);
  spec.set_operator_name("fake");
  spec.set_device("cpu");
  spec.mutable_baseline()->set_variant("base");
  spec.add_candidates()->set_variant(candidate);
  for (const auto& [name, values] : axes) {
    v1::Axis& axis = *spec.add_axes();
    axis.set_name(name);
    for (const std::string& value : values) {
      axis.add_values(value);
    }
  }
  return request;
}

// A daemon without a port. Members end in the right order.
class Daemon {
 public:
  explicit Daemon(std::vector<v1::DeviceConfig> devices = {device_config("cpu")},
                  std::vector<v1::Golden> files = {})
      : devices_(std::move(devices)), files_(std::move(files)) {
    open();
  }

  // Ends and begins again on the same database.
  void restart() {
    scheduler_.reset();
    goldens_.reset();
    store_.reset();
    open();
  }

  Scheduler& scheduler() { return *scheduler_; }

  Goldens& goldens() { return *goldens_; }

  db::Store& store() { return *store_; }

  static Scheduler::Deadline deadline() { return Scheduler::Deadline::clock::now() + kPatience; }

  absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request) {
    return scheduler_->submit(request, deadline());
  }

  // Follows until the predicate holds or the experiment is final.
  template <class Predicate>
  v1::Experiment wait_until(std::int64_t id, const Predicate& predicate) {
    std::uint64_t seen = 0;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      auto update = scheduler_->next_state(id, seen, std::chrono::milliseconds(200));
      if (!update.ok()) {
        ADD_FAILURE() << update.status();
        return {};
      }
      if (update->changed && (update->final || predicate(update->experiment))) {
        return update->experiment;
      }
      seen = update->version;
    }
    ADD_FAILURE() << "experiment " << id << " did not get there";
    return {};
  }

  v1::Experiment wait_until_final(std::int64_t id) {
    return wait_until(id, [](const v1::Experiment&) { return false; });
  }

  v1::Experiment wait_until_running(std::int64_t id) {
    return wait_until(id, [](const v1::Experiment& e) { return e.state() == v1::RUNNING; });
  }

  v1::Experiment run(const v1::SubmitRequest& request) {
    auto submitted = submit(request);
    if (!submitted.ok()) {
      ADD_FAILURE() << submitted.status();
      return {};
    }
    return wait_until_final(submitted->experiment_id());
  }

 private:
  void open() {
    auto store = db::Store::open({.path = folder_ / "assay.db"});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    goldens_ = std::make_unique<Goldens>(*store_, files_);
    SchedulerOptions options;
    for (const v1::DeviceConfig& device : devices_) {
      *options.config.add_devices() = device;
    }
    options.runner = ASSAY_FAKE_RUNNER;
    options.now_ns = [] {
      return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
    };
    scheduler_ = std::make_unique<Scheduler>(*store_, *goldens_, options);
    const absl::Status started = scheduler_->start();
    ASSERT_TRUE(started.ok()) << started;
  }

  Folder folder_;
  std::vector<v1::DeviceConfig> devices_;
  std::vector<v1::Golden> files_;
  std::unique_ptr<db::Store> store_;
  std::unique_ptr<Goldens> goldens_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace assay::server
