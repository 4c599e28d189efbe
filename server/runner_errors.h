// The standard error of a runner: passed on to the daemon's own as it comes. The last line is kept,
// since it is where a launcher says why nothing started.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace assay::server {

inline constexpr std::size_t kMaxErrorLineBytes = 200;

// The last line that is not blank of what add() was given.
class LastLine {
 public:
  void add(std::string_view bytes);

  // At most kMaxErrorLineBytes of UTF-8 without control characters; empty: there was none.
  std::string text() const;

 private:
  std::string line_;    // that has not ended; of a longer one the beginning
  std::string before_;  // the last one that ended
};

class RunnerErrors {
 public:
  // Takes `fd` over, the reading end of a pipe.
  static absl::StatusOr<std::unique_ptr<RunnerErrors>> of(int fd);

  // Passes on what was written, and waits for no writer.
  ~RunnerErrors();

  RunnerErrors(const RunnerErrors&) = delete;
  RunnerErrors& operator=(const RunnerErrors&) = delete;

  // Of all that was written before the call.
  std::string last_line();

 private:
  RunnerErrors(int fd, int wake);
  void follow();
  void take();

  const int fd_;
  const int wake_;    // an eventfd: ends follow()
  std::mutex mutex_;  // reading, last_ and ended_
  LastLine last_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace assay::server
