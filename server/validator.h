// Asks a local cpu runner about the operator's rules across axes, so that a bad workload is refused
// when it is submitted, whatever the device is doing. The runner is kept, on a thread of its own.
#pragma once

#include "server/device_runner.h"
#include "server/plan.h"

#include "absl/status/status.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::server {

class Validator {
 public:
  // `runner` is the program; empty: nothing is asked and the device's own runner will refuse.
  explicit Validator(const std::string& runner);
  Validator(const Validator&) = delete;
  Validator& operator=(const Validator&) = delete;
  ~Validator();

  // INVALID_ARGUMENT or NOT_FOUND as the operator says. OK also where no runner could be asked,
  // which is logged, and for operators of modules, which are loaded into runners of their own
  // alone: the device's runner asks again.
  absl::Status validate(const Plan& plan);

  // Kills the runner; calls in work and later ones return at once.
  void close();

 private:
  void work();
  absl::Status ask(const Plan& plan);

  const bool enabled_;
  DeviceRunner runner_;
  std::mutex turn_;   // one caller at a time
  std::mutex mutex_;  // plan_, done_, closed_ and answer_
  std::condition_variable changed_;
  const Plan* plan_ = nullptr;
  bool done_ = false;
  bool closed_ = false;
  absl::Status answer_;
  std::thread thread_;
};

}  // namespace assay::server
