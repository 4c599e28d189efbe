#include "profiler/watchdog.h"

#include <csignal>
#include <poll.h>
#include <string_view>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kGrace{1};

// Not exit: handlers of a hung driver may never return.
void end_process(std::string_view reason) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, reason.data(), reason.size());
  kill(getpid(), SIGKILL);
}

bool has_hung_up(int fd) {
  pollfd entry = {.fd = fd, .events = POLLRDHUP, .revents = 0};
  return fd >= 0 && poll(&entry, 1, 0) > 0 && (entry.revents & (POLLHUP | POLLRDHUP)) != 0;
}

}  // namespace

Watchdog::Watchdog(int fd) : fd_(fd), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::arm(Deadline deadline) {
  {
    const std::lock_guard lock(mutex_);
    deadline_ = deadline;
  }
  changed_.notify_all();
}

void Watchdog::disarm() {
  const std::lock_guard lock(mutex_);
  deadline_.reset();
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    if (!deadline_.has_value()) {
      changed_.wait(lock);
      continue;
    }
    if (std::chrono::steady_clock::now() - kGrace >= *deadline_) {
      end_process("assay-runner: overdue, killed by its own watchdog\n");
    }
    if (has_hung_up(fd_)) {
      end_process("assay-runner: the other side hung up\n");
    }
    changed_.wait_for(lock, kLook);
  }
}

}  // namespace assay::profiler
