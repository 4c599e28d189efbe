// How Ctrl-C reaches a call that waits: the signal's thread fires, the call that armed it ends.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace assay::client {

class Interrupter {
 public:
  // Until `disarm`, fire() calls `action`, under the lock: it must not come back here.
  void arm(std::function<void()> action) {
    const std::scoped_lock lock(mutex_);
    action_ = std::move(action);
  }

  void disarm() {
    const std::scoped_lock lock(mutex_);
    action_ = nullptr;
  }

  // False when nothing was armed: the program then ends at once.
  bool fire() {
    const std::scoped_lock lock(mutex_);
    if (!action_) {
      return false;
    }
    action_();
    return true;
  }

 private:
  std::mutex mutex_;
  std::function<void()> action_;
};

}  // namespace assay::client
