#include "profiler/frames.h"

#include "proto/runner.pb.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::string_view kNonce = "0123456789abcdef0123456789abcdef";

Deadline soon() {
  return deadline_after(std::chrono::seconds(20));
}

Deadline past() {
  return deadline_after(std::chrono::nanoseconds(0));
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }

  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  ~Pipe() {
    close_read();
    close_write();
  }

  int read_end() const { return ends_[0]; }

  int write_end() const { return ends_[1]; }

  void close_read() { close_one(ends_[0]); }

  void close_write() { close_one(ends_[1]); }

  void put(std::string_view bytes) {
    EXPECT_EQ(write(write_end(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

 private:
  static void close_one(int& fd) {
    if (fd >= 0) {
      close(fd);
    }
    fd = -1;
  }

  std::array<int, 2> ends_ = {-1, -1};
};

v1::RunnerReply progress(std::size_t num_bytes) {
  v1::RunnerReply reply;
  reply.set_sequence(7);
  reply.mutable_progress()->set_message(std::string(num_bytes, 'x'));
  return reply;
}

TEST(Frames, RefusesToWriteOneOverTheLimitAndNamesLimitAndSize) {
  Pipe pipe;
  const absl::Status status = write_frame(pipe.write_end(), progress(kMaxFrameBytes), soon());
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "frame of 67,108,876 bytes is over the limit of 67,108,864");
}

TEST(Frames, RefusesToReadOneOverTheLimitBeforeItsBodyArrives) {
  Pipe pipe;
  pipe.put(std::string("\x01\x00\x00\x04", 4));
  v1::RunnerReply reply;
  const absl::Status status = FrameReader(pipe.read_end()).read(reply, soon());
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "frame of 67,108,865 bytes is over the limit of 67,108,864");
}

TEST(Frames, TellsAClosedPipeFromABrokenFrame) {
  Pipe pipe;
  v1::RunnerReply reply;
  pipe.put(std::string("\x05\x00", 2));
  pipe.close_write();
  EXPECT_EQ(FrameReader(pipe.read_end()).read(reply, soon()).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(FrameReader(pipe.read_end()).read(reply, soon()).code(),
            absl::StatusCode::kUnavailable);
}

TEST(Frames, CallsABodyThatIsNoMessageDataLoss) {
  Pipe pipe;
  pipe.put(std::string("\x03\x00\x00\x00\xFF\xFF\xFF", 7));
  v1::RunnerReply reply;
  const absl::Status status = FrameReader(pipe.read_end()).read(reply, soon());
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "frame of 3 bytes is no assay.v1.RunnerReply");
}

TEST(Frames, GivesUpReadingAtItsDeadline) {
  Pipe pipe;
  v1::RunnerReply reply;
  EXPECT_EQ(FrameReader(pipe.read_end()).read(reply, past()).code(),
            absl::StatusCode::kDeadlineExceeded);
}

TEST(Frames, GivesUpWritingWhenNobodyReads) {
  Pipe pipe;
  const absl::Status status = write_frame(
      pipe.write_end(), progress(1 << 20), deadline_after(std::chrono::milliseconds(20)));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Frames, ReportsAReaderThatIsGoneAndRaisesNoSignal) {
  std::signal(SIGPIPE, SIG_DFL);
  Pipe pipe;
  pipe.close_read();
  EXPECT_EQ(write_frame(pipe.write_end(), progress(1), soon()).code(),
            absl::StatusCode::kUnavailable);
}

TEST(Frames, LeaveASignalThatWasThereBefore) {
  sigset_t sigpipe;
  sigemptyset(&sigpipe);
  sigaddset(&sigpipe, SIGPIPE);
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &sigpipe, &before), 0);
  std::raise(SIGPIPE);
  Pipe pipe;
  pipe.close_read();
  EXPECT_EQ(write_frame(pipe.write_end(), progress(1), soon()).code(),
            absl::StatusCode::kUnavailable);
  const timespec at_once = {};
  EXPECT_EQ(sigtimedwait(&sigpipe, nullptr, &at_once), SIGPIPE);
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(Frames, RefusesANonceThatIsNotHexadecimal) {
  Pipe pipe;
  EXPECT_EQ(write_magic(pipe.write_end(), "abc", soon()).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Frames, CarryEverySizeBothSidesOfABuffer) {
  Pipe pipe;
  std::thread writer([&] {
    for (const std::size_t size : {0U, 1U, 4095U, 4096U, 65535U, 65536U, 3U << 20}) {
      EXPECT_TRUE(write_frame(pipe.write_end(), progress(size), soon()).ok());
    }
  });
  FrameReader reader(pipe.read_end());
  for (const std::size_t size : {0U, 1U, 4095U, 4096U, 65535U, 65536U, 3U << 20}) {
    v1::RunnerReply reply;
    ASSERT_TRUE(reader.read(reply, soon()).ok());
    EXPECT_EQ(reply.progress().message().size(), size);
  }
  writer.join();
}

TEST(Frames, SkipAPreambleThatLooksLikeTheMagic) {
  Pipe pipe;
  pipe.put("Welcome\nASSAYRN1 ASSAYASSAYRN1ffff");
  ASSERT_TRUE(write_magic(pipe.write_end(), kNonce, soon()).ok());
  ASSERT_TRUE(write_frame(pipe.write_end(), progress(3), soon()).ok());
  FrameReader reader(pipe.read_end());
  ASSERT_TRUE(reader.skip_preamble(kNonce, soon()).ok());
  v1::RunnerReply reply;
  ASSERT_TRUE(reader.read(reply, soon()).ok());
  EXPECT_EQ(reply.progress().message(), "xxx");
}

TEST(Frames, GiveUpOnAPreambleWithoutEnd) {
  Pipe pipe;
  std::thread writer([&] {
    const std::string noise(4096, 'n');
    for (std::size_t sent = 0; sent <= kMaxPreambleBytes + 2 * noise.size(); sent += noise.size()) {
      pipe.put(noise);
    }
  });
  const absl::Status status = FrameReader(pipe.read_end()).skip_preamble(kNonce, soon());
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "no hello within 1,048,576 bytes");
  writer.join();
}

TEST(Frames, SurviveRandomBytes) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    Pipe pipe;
    std::string bytes(random() % 400, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % (round % 2 == 0 ? 256 : 4));
    }
    pipe.put(bytes);
    pipe.close_write();
    FrameReader reader(pipe.read_end());
    absl::Status status;
    for (int reads = 0; status.ok(); ++reads) {
      ASSERT_LE(reads, 101);
      v1::RunnerReply reply;
      status = reader.read(reply, soon());
    }
    EXPECT_NE(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
  }
}

}  // namespace
}  // namespace assay::profiler
