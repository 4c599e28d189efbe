// A runner: a child process in a process group of its own, spoken to in frames over pipes.
//
// Start it on a thread that lives as long as the runner may: it dies with the thread that started
// it, and so with the daemon. What it starts dies with it only while it stays in its process group;
// behind a launcher for another host, end of input must end it there. The standard error goes to
// the daemon's. After a call that failed it answers nothing more: end() it. kill() may be called
// from any thread, everything else from one. The process becomes the reaper of orphans (subreaper).
#pragma once

#include "profiler/frames.h"
#include "proto/runner.pb.h"
#include "server/runner_errors.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace assay::server {

class RunnerProcess {
 public:
  using Progress = std::function<void(const v1::RunnerProgress&)>;

  // Runs `arguments` with --nonce; the first is looked up in PATH. NOT_FOUND: it cannot be run.
  static absl::StatusOr<std::unique_ptr<RunnerProcess>> spawn(std::vector<std::string> arguments);

  // Kills it and waits for its death, at most kReapBound.
  ~RunnerProcess();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  // Waits for the hello, past whatever a launcher printed before it; once, before any call().
  // FAILED_PRECONDITION: it speaks another protocol; else as call(), with the last line of its
  // standard error.
  absl::Status greet(std::chrono::nanoseconds timeout);

  const v1::RunnerHello& hello() const { return hello_; }

  // Sends the request and waits for the final reply, which may be an error reply. Sequence and
  // deadline_ns are set here. DEADLINE_EXCEEDED: no reply in time. UNAVAILABLE: it died, exited or
  // closed its pipe. DATA_LOSS: it wrote something that is no reply. CANCELLED: kill() was called.
  absl::StatusOr<v1::RunnerReply> call(v1::RunnerRequest request,
                                       std::chrono::nanoseconds timeout,
                                       const Progress& progress);

  // Whether it still runs. A runner that died while idle is replaced, it is no failed request.
  bool alive();

  // SIGKILL to the process group; a call in work then returns CANCELLED.
  void kill();

  // Ends its input, at which a runner ends by itself, and gives it kQuitGrace: a profiler in front
  // of it writes its report then. No call may follow, nor be in work.
  void quit();

  // Kills and reaps the whole group. UNAVAILABLE: it is still there after kReapBound, nothing may
  // be started on its device. After OK exit_reason() is known.
  absl::Status end();

  // "was killed by signal 11 (Segmentation fault)", "exited with status 3"; empty while it runs.
  std::string exit_reason() const;

 private:
  class Descriptor {
   public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}

    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

    Descriptor& operator=(Descriptor&& other) noexcept;
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    ~Descriptor() { reset(); }

    int get() const { return fd_; }

    int release() { return std::exchange(fd_, -1); }

    void reset();

   private:
    int fd_;
  };

  static absl::StatusOr<std::pair<Descriptor, Descriptor>> make_pipe();

  RunnerProcess(pid_t pid,
                std::string nonce,
                Descriptor input,
                Descriptor output,
                std::unique_ptr<RunnerErrors> errors);

  absl::Status await_hello(std::chrono::nanoseconds timeout);

  // The status of a failed exchange, in the words and codes of call().
  absl::Status explain(const absl::Status& failure, std::chrono::nanoseconds timeout);

  // Reaps without waiting for anything that lives; true once nothing of the group is left.
  bool reap_some();
  bool wait_for_death(std::chrono::nanoseconds bound);

  mutable std::mutex mutex_;  // pid_ against reaping: a reaped pid must not be signalled
  pid_t pid_;
  bool leader_reaped_ = false;
  bool gone_ = false;  // nothing of the group is left
  int exit_status_ = 0;
  std::atomic<bool> killed_ = false;
  Descriptor input_;
  Descriptor output_;
  const std::unique_ptr<RunnerErrors> errors_;
  profiler::FrameReader reader_;
  std::string nonce_;
  std::uint64_t sequence_ = 0;
  v1::RunnerHello hello_;
};

inline constexpr std::chrono::seconds kReapBound{5};
inline constexpr std::chrono::seconds kQuitGrace{10};

}  // namespace assay::server
