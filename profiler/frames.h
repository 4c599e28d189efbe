// Length-delimited protobuf between assayd and assay-runner, as proto/runner.proto describes it.
// Errors: DEADLINE_EXCEEDED (the other side is too slow), UNAVAILABLE (it closed its end between
// frames), RESOURCE_EXHAUSTED (a frame over the limit), DATA_LOSS (anything that is no frame), else
// the system's. After any of them the stream is of no more use. Writing raises no SIGPIPE.
#pragma once

#include "absl/status/status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace google::protobuf {
class MessageLite;
}

namespace assay::profiler {

inline constexpr std::size_t kMaxFrameBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxPreambleBytes = std::size_t{1} << 20;
inline constexpr std::string_view kFrameMagic = "ASSAYRN1";
inline constexpr std::size_t kNonceDigits = 32;
inline constexpr std::uint32_t kProtocolVersion = 1;

using Deadline = std::chrono::steady_clock::time_point;

// A deadline that far from now; negative and zero are in the past.
Deadline deadline_after(std::chrono::nanoseconds duration);

bool is_nonce(std::string_view text);

// Magic and nonce: the first bytes that a runner writes.
absl::Status write_magic(int fd, std::string_view nonce, Deadline deadline);

absl::Status write_frame(int fd, const google::protobuf::MessageLite& message, Deadline deadline);

// Reads one side of a connection. It reads ahead, so a descriptor has one reader; it does not own
// the descriptor.
class FrameReader {
 public:
  explicit FrameReader(int fd) : fd_(fd) {}

  // Skips what a shell or a launcher printed before the magic and the nonce.
  absl::Status skip_preamble(std::string_view nonce, Deadline deadline);
  absl::Status read(google::protobuf::MessageLite& message, Deadline deadline);

 private:
  // Reads more into the buffer; `what` names what is being waited for.
  absl::Status fill(std::string_view what, Deadline deadline);

  int fd_;
  std::string buffer_;
};

}  // namespace assay::profiler
