#include "profiler/frames.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/message_lite.h"
#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <poll.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kReadBytes = std::size_t{64} << 10;

std::string with_commas(std::size_t number) {
  std::string digits = absl::StrCat(number);
  for (std::size_t place = digits.size(); place > 3;) {
    place -= 3;
    digits.insert(place, 1, ',');
  }
  return digits;
}

absl::Status over_limit(std::size_t num_bytes) {
  return absl::ResourceExhaustedError(absl::StrCat("frame of ",
                                                   with_commas(num_bytes),
                                                   " bytes is over the limit of ",
                                                   with_commas(kMaxFrameBytes)));
}

absl::Status system_error(std::string_view call) {
  return absl::ErrnoToStatus(errno, std::string(call));
}

// Waits until the descriptor can be read or written without blocking.
absl::Status wait_for(int fd, short events, std::string_view what, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return absl::DeadlineExceededError(absl::StrCat("deadline reached at ", std::string(what)));
    }
    pollfd entry = {.fd = fd, .events = events, .revents = 0};
    const int timeout_ms = static_cast<int>(std::min<std::int64_t>(left.count(), INT_MAX));
    const int ready = poll(&entry, 1, timeout_ms);
    if (ready > 0) {
      return absl::OkStatus();
    }
    if (ready < 0 && errno != EINTR) {
      return system_error("poll");
    }
  }
}

// Keeps SIGPIPE from this thread, so that a closed pipe is an error of the call alone, whatever the
// program does about the signal. One that came meanwhile is taken away, one from before stays.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }

  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

  ~SigpipeGuard() {
    const timespec at_once = {};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

absl::Status write_all(int fd, std::string_view bytes, Deadline deadline) {
  const SigpipeGuard guard;
  while (!bytes.empty()) {
    ASSAY_RETURN_IF_ERROR(wait_for(fd, POLLOUT, "writing a frame", deadline));
    // A writable pipe takes PIPE_BUF bytes without blocking, and promises no more.
    const ssize_t written = write(fd, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
      continue;
    }
    if (written < 0 && errno == EPIPE) {
      return absl::UnavailableError("the other side closed its end");
    }
    if (written < 0) {
      return system_error("write");
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

}  // namespace

Deadline deadline_after(std::chrono::nanoseconds duration) {
  const Deadline now = std::chrono::steady_clock::now();
  return duration > Deadline::max() - now ? Deadline::max() : now + duration;
}

bool is_nonce(std::string_view text) {
  return text.size() == kNonceDigits &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

absl::Status write_magic(int fd, std::string_view nonce, Deadline deadline) {
  if (!is_nonce(nonce)) {
    return absl::InvalidArgumentError("nonce: expected 32 hexadecimal digits");
  }
  return write_all(fd, absl::StrCat(std::string(kFrameMagic), std::string(nonce)), deadline);
}

absl::Status write_frame(int fd, const google::protobuf::MessageLite& message, Deadline deadline) {
  const std::size_t num_bytes = message.ByteSizeLong();
  if (num_bytes > kMaxFrameBytes) {
    return over_limit(num_bytes);
  }
  std::string frame;
  frame.reserve(kLengthBytes + num_bytes);
  for (std::size_t place = 0; place < kLengthBytes; ++place) {
    frame.push_back(static_cast<char>(num_bytes >> (8 * place) & 0xFFU));
  }
  if (!message.AppendToString(&frame)) {
    return absl::InternalError(absl::StrCat("cannot serialise ", message.GetTypeName()));
  }
  return write_all(fd, frame, deadline);
}

absl::Status FrameReader::fill(std::string_view what, Deadline deadline) {
  while (true) {
    ASSAY_RETURN_IF_ERROR(wait_for(fd_, POLLIN, what, deadline));
    std::array<char, kReadBytes> chunk;
    const ssize_t count = ::read(fd_, chunk.data(), chunk.size());
    if (count > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(count));
      return absl::OkStatus();
    }
    if (count == 0 && buffer_.empty()) {
      return absl::UnavailableError(absl::StrCat("end of input at ", std::string(what)));
    }
    if (count == 0) {
      return absl::DataLossError(absl::StrCat(
          "end of input at ", std::string(what), " after ", with_commas(buffer_.size()), " bytes"));
    }
    if (errno != EINTR && errno != EAGAIN) {
      return system_error("read");
    }
  }
}

absl::Status FrameReader::skip_preamble(std::string_view nonce, Deadline deadline) {
  const std::string mark = absl::StrCat(std::string(kFrameMagic), std::string(nonce));
  std::size_t num_skipped = 0;
  while (true) {
    const std::size_t found = buffer_.find(mark);
    if (found != std::string::npos) {
      buffer_.erase(0, found + mark.size());
      return absl::OkStatus();
    }
    // The end may be the first part of the mark.
    const std::size_t keep = std::min(buffer_.size(), mark.size() - 1);
    num_skipped += buffer_.size() - keep;
    buffer_.erase(0, buffer_.size() - keep);
    if (num_skipped > kMaxPreambleBytes) {
      return absl::DataLossError(
          absl::StrCat("no hello within ", with_commas(kMaxPreambleBytes), " bytes"));
    }
    ASSAY_RETURN_IF_ERROR(fill("the hello", deadline));
  }
}

absl::Status FrameReader::read(google::protobuf::MessageLite& message, Deadline deadline) {
  while (buffer_.size() < kLengthBytes) {
    ASSAY_RETURN_IF_ERROR(fill("the length of a frame", deadline));
  }
  std::size_t num_bytes = 0;
  for (std::size_t place = 0; place < kLengthBytes; ++place) {
    num_bytes |= static_cast<std::size_t>(static_cast<unsigned char>(buffer_[place]))
                 << (8 * place);
  }
  if (num_bytes > kMaxFrameBytes) {
    return over_limit(num_bytes);
  }
  buffer_.reserve(kLengthBytes + num_bytes);
  while (buffer_.size() < kLengthBytes + num_bytes) {
    ASSAY_RETURN_IF_ERROR(fill("the body of a frame", deadline));
  }
  if (!message.ParseFromArray(buffer_.data() + kLengthBytes, static_cast<int>(num_bytes))) {
    return absl::DataLossError(
        absl::StrCat("frame of ", with_commas(num_bytes), " bytes is no ", message.GetTypeName()));
  }
  buffer_.erase(0, kLengthBytes + num_bytes);
  return absl::OkStatus();
}

}  // namespace assay::profiler
