#include "server/runner_process.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kReapStep{2};
// How long a runner that closed its pipe is given to show how it ended.
constexpr std::chrono::milliseconds kExitGrace{500};

std::string make_nonce() {
  std::random_device random;
  std::string nonce;
  for (int i = 0; i < 4; ++i) {
    absl::StrAppend(&nonce, absl::Hex(random(), absl::kZeroPad8));
  }
  return nonce;
}

// The child's side between fork and exec: async-signal-safe calls only.
[[noreturn]] void become_runner(
    int input, int output, int errors, int report, pid_t parent, char* const* arguments) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(127);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  // A connection that was accepted just now is not the runner's to keep open; no library sees to
  // it.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
      dup2(errors, STDERR_FILENO) >= 0) {
    execvp(arguments[0], arguments);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(report, &error, sizeof(error));
  _exit(127);
}

std::string exit_words(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    const char* description = sigdescr_np(number);
    return absl::StrCat("was killed by signal ",
                        number,
                        " (",
                        description == nullptr ? "unknown" : description,
                        ")");
  }
  return absl::StrCat("exited with status ", WEXITSTATUS(status));
}

}  // namespace

RunnerProcess::Descriptor& RunnerProcess::Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void RunnerProcess::Descriptor::reset() {
  if (fd_ >= 0) {
    close(fd_);
  }
  fd_ = -1;
}

absl::StatusOr<std::pair<RunnerProcess::Descriptor, RunnerProcess::Descriptor>>
RunnerProcess::make_pipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe2");
  }
  // Standard descriptors of a daemon without them would be overwritten in the child.
  for (int& end : ends) {
    if (end <= STDERR_FILENO) {
      const int higher = fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      close(end);
      end = higher;
    }
  }
  return std::pair(Descriptor(ends[0]), Descriptor(ends[1]));
}

absl::StatusOr<std::unique_ptr<RunnerProcess>> RunnerProcess::spawn(
    std::vector<std::string> arguments) {
  std::string nonce = make_nonce();
  arguments.emplace_back("--nonce");
  arguments.push_back(nonce);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);

  ASSAY_ASSIGN_OR_RETURN(auto input, make_pipe());
  ASSAY_ASSIGN_OR_RETURN(auto output, make_pipe());
  ASSAY_ASSIGN_OR_RETURN(auto errors, make_pipe());
  ASSAY_ASSIGN_OR_RETURN(auto report, make_pipe());
  ASSAY_ASSIGN_OR_RETURN(auto read_errors, RunnerErrors::of(errors.first.release()));
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    return absl::ErrnoToStatus(errno, "fork");
  }
  if (pid == 0) {
    become_runner(input.first.get(),
                  output.second.get(),
                  errors.second.get(),
                  report.second.get(),
                  parent,
                  pointers.data());
  }
  // On both sides, so that the group exists before either goes on.
  setpgid(pid, pid);
  std::unique_ptr<RunnerProcess> runner(new RunnerProcess(pid,
                                                          std::move(nonce),
                                                          std::move(input.second),
                                                          std::move(output.first),
                                                          std::move(read_errors)));
  input.first.reset();
  output.second.reset();
  errors.second.reset();
  report.second.reset();

  // The report closes on exec; what comes through it is why exec failed.
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(report.first.get(), &error, sizeof(error));
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof(error))) {
    return absl::NotFoundError(
        absl::StrCat("cannot run `", arguments[0], "`: ", std::strerror(error)));
  }
  return runner;
}

RunnerProcess::RunnerProcess(pid_t pid,
                             std::string nonce,
                             Descriptor input,
                             Descriptor output,
                             std::unique_ptr<RunnerErrors> errors)
    : pid_(pid),
      input_(std::move(input)),
      output_(std::move(output)),
      errors_(std::move(errors)),
      reader_(output_.get()),
      nonce_(std::move(nonce)) {}

RunnerProcess::~RunnerProcess() {
  static_cast<void>(end());
}

absl::Status RunnerProcess::greet(std::chrono::nanoseconds timeout) {
  const absl::Status status = await_hello(timeout);
  if (status.ok() || killed_) {
    return status;
  }
  const std::string line = errors_->last_line();
  return line.empty()
             ? status
             : absl::Status(status.code(), absl::StrCat(std::string(status.message()), ": ", line));
}

absl::Status RunnerProcess::await_hello(std::chrono::nanoseconds timeout) {
  const profiler::Deadline deadline = profiler::deadline_after(timeout);
  if (const absl::Status skipped = reader_.skip_preamble(nonce_, deadline); !skipped.ok()) {
    return explain(skipped, timeout);
  }
  v1::RunnerReply reply;
  if (const absl::Status received = reader_.read(reply, deadline); !received.ok()) {
    return explain(received, timeout);
  }
  if (!reply.has_hello()) {
    return absl::DataLossError("the runner's first frame is no hello");
  }
  if (reply.hello().protocol_version() != profiler::kProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the runner speaks protocol ",
                                                      reply.hello().protocol_version(),
                                                      ", the daemon ",
                                                      profiler::kProtocolVersion));
  }
  hello_ = std::move(*reply.mutable_hello());
  return absl::OkStatus();
}

absl::StatusOr<v1::RunnerReply> RunnerProcess::call(v1::RunnerRequest request,
                                                    std::chrono::nanoseconds timeout,
                                                    const Progress& progress) {
  request.set_sequence(++sequence_);
  request.set_deadline_ns(timeout.count());
  const profiler::Deadline deadline = profiler::deadline_after(timeout);
  if (const absl::Status sent = profiler::write_frame(input_.get(), request, deadline);
      !sent.ok()) {
    return explain(sent, timeout);
  }
  while (true) {
    v1::RunnerReply reply;
    if (const absl::Status received = reader_.read(reply, deadline); !received.ok()) {
      return explain(received, timeout);
    }
    if (reply.sequence() != sequence_ || reply.reply_case() == v1::RunnerReply::REPLY_NOT_SET) {
      return absl::DataLossError(absl::StrCat(
          "the runner answered request ", reply.sequence(), " instead of ", sequence_));
    }
    if (!reply.has_progress()) {
      return reply;
    }
    progress(reply.progress());
  }
}

absl::Status RunnerProcess::explain(const absl::Status& failure, std::chrono::nanoseconds timeout) {
  if (killed_) {
    return absl::CancelledError("the runner was killed on request");
  }
  switch (failure.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      return absl::DeadlineExceededError(
          absl::StrCat("no reply within ", std::chrono::duration<double>(timeout).count(), " s"));
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kResourceExhausted:
      break;
    default:
      return absl::UnavailableError(std::string(failure.message()));
  }
  // A frame cut short by a death is a death.
  const bool closed = failure.code() == absl::StatusCode::kUnavailable;
  const bool cut = std::string(failure.message()).find("end of input") != std::string::npos;
  if ((closed || cut) && wait_for_death(kExitGrace)) {
    return absl::UnavailableError(absl::StrCat("the runner ", exit_reason()));
  }
  if (closed) {
    return absl::UnavailableError("the runner closed its pipe and went on running");
  }
  return absl::DataLossError(
      absl::StrCat("the runner wrote no reply: ", std::string(failure.message())));
}

bool RunnerProcess::reap_some() {
  const std::lock_guard lock(mutex_);
  while (!gone_) {
    int status = 0;
    const pid_t reaped = waitpid(-pid_, &status, WNOHANG);
    if (reaped == pid_) {
      leader_reaped_ = true;
      exit_status_ = status;
    }
    if (reaped < 0 && errno == EINTR) {
      continue;
    }
    if (reaped <= 0) {
      // No children left in the group, and nobody in it that waits to become one.
      gone_ = gone_ || (leader_reaped_ && reaped < 0 && ::kill(-pid_, 0) != 0);
      break;
    }
  }
  return gone_;
}

bool RunnerProcess::wait_for_death(std::chrono::nanoseconds bound) {
  const profiler::Deadline deadline = profiler::deadline_after(bound);
  while (!reap_some()) {
    {
      const std::lock_guard lock(mutex_);
      if (leader_reaped_ && !killed_) {
        return true;
      }
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(kReapStep);
  }
  return true;
}

bool RunnerProcess::alive() {
  reap_some();
  const std::lock_guard lock(mutex_);
  return !leader_reaped_;
}

void RunnerProcess::kill() {
  const std::lock_guard lock(mutex_);
  killed_ = true;
  // The number of a group is not given away while a member of it is left.
  if (!gone_) {
    ::kill(-pid_, SIGKILL);
  }
}

void RunnerProcess::quit() {
  input_.reset();
  wait_for_death(kQuitGrace);
}

absl::Status RunnerProcess::end() {
  if (reap_some()) {
    return absl::OkStatus();
  }
  kill();
  if (!wait_for_death(kReapBound)) {
    return absl::UnavailableError(
        absl::StrCat("the runner with process id ", pid_, " does not die"));
  }
  return absl::OkStatus();
}

std::string RunnerProcess::exit_reason() const {
  const std::lock_guard lock(mutex_);
  return leader_reaped_ ? exit_words(exit_status_) : "";
}

}  // namespace assay::server
