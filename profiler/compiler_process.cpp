#include "profiler/compiler_process.h"

#include "profiler/compile_worker.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::chrono::seconds kStartTimeout{60};
constexpr std::chrono::milliseconds kReapStep{2};
constexpr int kMostReapSteps = 1000;

class Actions {
 public:
  Actions() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }

  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;

  ~Actions() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  // What the compiler itself prints belongs in no log of ours.
  int spawn(const std::string& program, int in_fd, int out_fd, pid_t& pid) {
    posix_spawn_file_actions_adddup2(&files_, in_fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files_, out_fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string name = "assay-runner";
    std::string mode = kCompileMode;
    const std::array<char*, 3> arguments = {name.data(), mode.data(), nullptr};
    // The loader may need its path; the child drops it.
    const char* const listed = std::getenv("LD_LIBRARY_PATH");
    std::string path = absl::StrCat("LD_LIBRARY_PATH=", listed == nullptr ? "" : listed);
    const std::array<char*, 2> environment = {listed == nullptr ? nullptr : path.data(), nullptr};
    return posix_spawn(
        &pid, program.c_str(), &files_, &attributes_, arguments.data(), environment.data());
  }

 private:
  posix_spawn_file_actions_t files_ = {};
  posix_spawnattr_t attributes_ = {};
};

absl::Status status_in(const v1::CompilerReady& ready) {
  return {static_cast<absl::StatusCode>(ready.code()), ready.message()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompilerProcess>> CompilerProcess::start(
    const std::string& program, const v1::CompilerSettings& settings, CompileLimits limits) {
  std::array<int, 2> input = {-1, -1};
  std::array<int, 2> output = {-1, -1};
  pid_t pid = -1;
  int error =
      pipe2(input.data(), O_CLOEXEC) != 0 || pipe2(output.data(), O_CLOEXEC) != 0 ? errno : 0;
  if (error == 0) {
    error = Actions().spawn(program, input[0], output[1], pid);
  }
  for (const int fd : {input[0], output[1]}) {
    if (fd >= 0) {
      close(fd);
    }
  }
  // Owns its descriptors from here on, also when nothing was started.
  std::unique_ptr<CompilerProcess> process(
      new CompilerProcess(error == 0 ? pid : -1, input[1], output[0], limits));
  if (error != 0) {
    return absl::ErrnoToStatus(error, "starting the compiler");
  }
  ASSAY_RETURN_IF_ERROR(process->greet(settings));
  return process;
}

CompilerProcess::~CompilerProcess() {
  for (const int fd : {to_child_, from_child_}) {
    if (fd >= 0) {
      close(fd);
    }
  }
  if (pid_ <= 0) {
    return;
  }
  kill(pid_, SIGKILL);
  for (int step = 0; step < kMostReapSteps && waitpid(pid_, nullptr, WNOHANG) == 0; ++step) {
    std::this_thread::sleep_for(kReapStep);
  }
}

absl::Status CompilerProcess::greet(const v1::CompilerSettings& settings) {
  const Deadline deadline = deadline_after(kStartTimeout);
  v1::CompilerReady ready;
  absl::Status status = write_frame(to_child_, settings, deadline);
  if (status.ok()) {
    status = reader_.read(ready, deadline);
  }
  if (!status.ok()) {
    return explain_end(status);
  }
  version_ = ready.version();
  return status_in(ready);
}

absl::StatusOr<v1::CompileReply> CompilerProcess::compile(v1::CompileRequest request) {
  request.set_processor_seconds(static_cast<std::uint32_t>(limits_.processor.count()));
  const Deadline deadline = deadline_after(limits_.wall);
  v1::CompileReply reply;
  absl::Status status = write_frame(to_child_, request, deadline);
  if (status.ok()) {
    status = reader_.read(reply, deadline);
  }
  if (!status.ok()) {
    return explain_end(status);
  }
  return reply;
}

absl::Status CompilerProcess::explain_end(const absl::Status& broken) {
  if (absl::IsDeadlineExceeded(broken)) {
    return absl::DeadlineExceededError(
        absl::StrCat("the compiler was killed after ",
                     std::chrono::duration_cast<std::chrono::seconds>(limits_.wall).count(),
                     " s; make the source smaller"));
  }
  // A child that let go of its pipe is about to end, or is made to.
  int ended = 0;
  rusage used = {};
  pid_t found = 0;
  for (int step = 0; step < kMostReapSteps && found == 0; ++step) {
    found = wait4(pid_, &ended, WNOHANG, &used);
    if (found == 0) {
      std::this_thread::sleep_for(kReapStep);
    }
  }
  if (found != pid_) {
    return absl::InternalError("the compiler broke its connection");
  }
  pid_ = -1;
  if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU) {
    return absl::DeadlineExceededError(
        absl::StrCat("the compiler used up its ",
                     limits_.processor.count(),
                     " s of processor time; make the source smaller"));
  }
  constexpr std::int64_t kKibibyte = 1024;
  if (2 * used.ru_maxrss * kKibibyte > limits_.memory_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the compiler ran out of its ", limits_.memory_bytes, " bytes; make the source smaller"));
  }
  return absl::InternalError(WIFSIGNALED(ended)
                                 ? absl::StrCat("the compiler died of signal ", WTERMSIG(ended))
                                 : absl::StrCat("the compiler exited with ", WEXITSTATUS(ended)));
}

}  // namespace assay::profiler
