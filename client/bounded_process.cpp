#include "client/bounded_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::client {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}

  ~Descriptor() { close(); }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

  void close() {
    if (number_ >= 0) {
      ::close(number_);
      number_ = -1;
    }
  }

 private:
  int number_;
};

// A child in a process group of its own, that ends with this.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}

  ~Child() {
    if (pid_ > 0) {
      kill(-pid_, SIGKILL);
      wait();
    }
  }

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Whether it ended well.
  bool wait() {
    int status = 0;
    pid_t ended = 0;
    do {
      ended = waitpid(pid_, &status, 0);
    } while (ended < 0 && errno == EINTR);
    pid_ = 0;
    return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t pid_;
};

// The child's pid; 0: it could not be started.
pid_t start(const std::vector<std::string>& arguments, int out) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // The program blocks and ignores signals that its children must not.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int code = posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return code == 0 ? pid : 0;
}

// Whether there is something to read, or the end of it, before `end`.
bool wait_for(int descriptor, std::chrono::steady_clock::time_point end) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return false;
    }
    pollfd entry = {.fd = descriptor, .events = POLLIN, .revents = 0};
    const int found =
        poll(&entry, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (found > 0 || (found < 0 && errno != EINTR)) {
      return found > 0;
    }
  }
}

}  // namespace

std::optional<std::string> output_of(const std::vector<std::string>& arguments,
                                     std::chrono::steady_clock::time_point end,
                                     std::size_t max_bytes) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  const pid_t pid = start(arguments, out.number());
  out.close();
  if (pid == 0) {
    return std::nullopt;
  }
  Child child(pid);
  std::string text;
  std::array<char, 4'096> buffer{};
  while (text.size() < max_bytes && wait_for(in.number(), end)) {
    const ssize_t size = read(in.number(), buffer.data(), buffer.size());
    if (size > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    } else if (size == 0) {
      return child.wait() ? std::optional(text) : std::nullopt;
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
  if (text.size() < max_bytes) {
    return std::nullopt;
  }
  text.resize(max_bytes);
  return text;
}

}  // namespace assay::client
