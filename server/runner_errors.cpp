#include "server/runner_errors.h"

#include "proto/numbers.h"
#include "proto/text.h"

#include "absl/status/status.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace assay::server {
namespace {

// One who writes faster than is read must not hold up whoever wants the last line.
constexpr int kMostReads = 256;

bool is_blank(std::string_view text) {
  return proto::one_line(text).find_first_not_of(' ') == std::string::npos;
}

void write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(STDERR_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      return;
    }
    bytes.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
}

}  // namespace

void LastLine::add(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte == '\n' || byte == '\r') {
      if (!is_blank(line_)) {
        before_ = line_;
      }
      line_.clear();
    } else if (line_.size() < kMaxErrorLineBytes) {
      line_ += byte;
    }
  }
}

std::string LastLine::text() const {
  std::string text = is_blank(line_) ? before_ : line_;
  // A character of at most four bytes may have been cut.
  for (int cut = 1; cut < 4 && text.size() == kMaxErrorLineBytes; ++cut) {
    const std::string shorter = text.substr(0, text.size() - static_cast<std::size_t>(cut));
    if (!proto::is_utf8(text) && proto::is_utf8(shorter)) {
      text = shorter;
    }
  }
  const bool is_text = proto::is_utf8(text);
  std::ranges::replace_if(
      text, [&](char byte) { return !is_text && (byte & 0x80) != 0; }, '?');
  return proto::one_line(text);
}

absl::StatusOr<std::unique_ptr<RunnerErrors>> RunnerErrors::of(int fd) {
  const int wake = eventfd(0, EFD_CLOEXEC);
  if (wake < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
    const absl::Status status = absl::ErrnoToStatus(errno, "eventfd, fcntl");
    close(fd);
    close(wake);
    return status;
  }
  return std::unique_ptr<RunnerErrors>(new RunnerErrors(fd, wake));
}

RunnerErrors::RunnerErrors(int fd, int wake)
    : fd_(fd), wake_(wake), thread_([this] { follow(); }) {}

RunnerErrors::~RunnerErrors() {
  eventfd_write(wake_, 1);
  thread_.join();
  take();
  close(wake_);
  close(fd_);
}

std::string RunnerErrors::last_line() {
  take();
  const std::lock_guard lock(mutex_);
  return last_.text();
}

void RunnerErrors::follow() {
  std::array<pollfd, 2> watched = {pollfd{fd_, POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  while (watched[1].revents == 0) {
    if (poll(watched.data(), watched.size(), -1) < 0) {
      continue;
    }
    take();
    const std::lock_guard lock(mutex_);
    // Whoever has closed it would be found readable for ever.
    watched[0].fd = ended_ ? -1 : fd_;
  }
}

void RunnerErrors::take() {
  const std::lock_guard lock(mutex_);
  std::array<char, 4096> buffer;
  for (int reads = 0; reads < kMostReads && !ended_; ++reads) {
    const ssize_t count = read(fd_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    ended_ = count == 0;
    if (count <= 0) {
      return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    write_all(bytes);
    last_.add(bytes);
  }
}

}  // namespace assay::server
