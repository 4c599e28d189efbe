// Kills this process when a request is overdue by a second, or when the other side hangs up while
// one is in work: a hung device cannot be asked to stop.
#pragma once

#include "profiler/frames.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace assay::profiler {

class Watchdog {
 public:
  // Watches `fd` for the end of input; negative: no watch.
  explicit Watchdog(int fd);
  // The thread knows the address.
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  void arm(Deadline deadline);
  void disarm();

 private:
  void watch();

  int fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Deadline> deadline_;  // guarded by mutex_
  bool is_over_ = false;              // guarded by mutex_
  std::thread thread_;
};

}  // namespace assay::profiler
