// assayd as a process of its own.
#pragma once

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace assay {

class Daemon {
 public:
  // Starts it and reads its first line, empty when it ended without one.
  explicit Daemon(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ASSAY_DAEMON);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
      pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    std::array<int, 2> out = {};
    std::array<int, 2> error = {};
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(error.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(error[1], STDERR_FILENO);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    close(out[1]);
    close(error[1]);
    char letter = 0;
    while (read(out[0], &letter, 1) == 1 && letter != '\n') {
      line_ += letter;
    }
    close(out[0]);
    // The log is read to its end, so that the daemon never waits for a reader.
    log_reader_ = std::thread([this, fd = error[0]] {
      std::array<char, 4096> chunk;
      ssize_t count = 0;
      while ((count = read(fd, chunk.data(), chunk.size())) > 0) {
        log_.append(chunk.data(), static_cast<std::size_t>(count));
      }
      close(fd);
    });
  }

  ~Daemon() {
    if (pid_ > 0) {
      signal(SIGKILL);
      wait();
    }
  }

  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  const std::string& line() const { return line_; }

  // After wait().
  const std::string& log() const { return log_; }

  void signal(int number) const { kill(pid_, number); }

  // The status as waitpid gives it. The log ends when the last runner has let go of it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    log_reader_.join();
    return status;
  }

 private:
  pid_t pid_ = 0;
  std::string line_;
  std::string log_;
  std::thread log_reader_;
};

}  // namespace assay
