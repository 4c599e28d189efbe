#include "profiler/runner.h"

#include "tests/profiler/faulty_operator.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr const char* kNonce = "00112233445566778899aabbccddeeff";

Deadline soon() {
  return deadline_after(std::chrono::seconds(30));
}

// A runner in a process of its own, at the other end of two pipes.
class RunnerTest : public testing::Test {
 protected:
  void start(Plant plant = {}) {
    std::array<int, 2> requests;
    std::array<int, 2> replies;
    ASSERT_EQ(pipe(requests.data()), 0);
    ASSERT_EQ(pipe(replies.data()), 0);
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ == 0) {
      close(requests[1]);
      close(replies[0]);
      dup2(STDERR_FILENO, STDOUT_FILENO);
      auto device = make_cpu_device(1 << 20);
      const std::array<const kernels::Operator*, 1> catalogue = {&faulty_operator()};
      Runner runner(*device, catalogue, plant);
      _exit(runner.serve(requests[0], replies[1], kNonce).ok() ? 0 : 1);
    }
    close(requests[0]);
    close(replies[1]);
    to_runner_ = requests[1];
    from_runner_ = replies[0];
    reader_ = std::make_unique<FrameReader>(from_runner_);
    ASSERT_TRUE(reader_->skip_preamble(kNonce, soon()).ok());
    v1::RunnerReply reply;
    ASSERT_TRUE(reader_->read(reply, soon()).ok());
    hello_ = reply.hello();
  }

  void TearDown() override {
    hang_up();
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(from_runner_);
  }

  void hang_up() {
    if (to_runner_ >= 0) {
      close(to_runner_);
    }
    to_runner_ = -1;
  }

  int wait_for_end() {
    int status = -1;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    child_ = -1;
    return status;
  }

  // The final reply, progress left out.
  absl::Status ask(v1::RunnerRequest request, v1::RunnerReply& reply) {
    request.set_sequence(++sequence_);
    if (const absl::Status status = write_frame(to_runner_, request, soon()); !status.ok()) {
      return status;
    }
    do {
      if (const absl::Status status = reader_->read(reply, soon()); !status.ok()) {
        return status;
      }
      EXPECT_EQ(reply.sequence(), sequence_);
    } while (reply.has_progress());
    return absl::OkStatus();
  }

  static v1::RunnerRequest open_request(const std::string& candidate) {
    v1::RunnerRequest request;
    v1::RunnerOpen& open = *request.mutable_open();
    open.set_operator_name("axpy");
    open.mutable_workload()->set_seed(7);
    open.mutable_baseline()->set_variant("plain");
    open.mutable_candidate()->set_variant(candidate);
    return request;
  }

  pid_t child_ = -1;
  int to_runner_ = -1;
  int from_runner_ = -1;
  std::unique_ptr<FrameReader> reader_;
  v1::RunnerHello hello_;
  std::uint64_t sequence_ = 40;
};

TEST_F(RunnerTest, RefusesUnknownNamesAndServesOn) {
  start();
  v1::RunnerReply reply;
  v1::RunnerRequest request = open_request("nowhere");
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_TRUE(reply.error().refused());
  request.mutable_open()->set_operator_name("nothing");
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_EQ(reply.error().message(), "no operator `nothing`; valid: axpy");
  ASSERT_TRUE(ask(open_request("twin"), reply).ok());
  EXPECT_TRUE(reply.has_opened());
}

TEST_F(RunnerTest, RefusesToTimeWhatIsNotOpen) {
  start();
  v1::RunnerReply reply;
  v1::RunnerRequest request;
  request.mutable_time();
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_TRUE(reply.error().refused());
  ASSERT_TRUE(ask(v1::RunnerRequest(), reply).ok());
  EXPECT_EQ(reply.error().message(), "request: not set");
}

TEST_F(RunnerTest, ValidatesWorkloadsAndArmsByPath) {
  start();
  v1::RunnerReply reply;
  v1::RunnerRequest request;
  v1::RunnerValidate& validate = *request.mutable_validate();
  validate.set_operator_name("axpy");
  validate.add_workloads();
  v1::Setting& n = *validate.add_workloads()->add_axes();
  n.set_name("n");
  n.set_value("13");
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_EQ(reply.error().message(), "workloads[1]: n: 13 is not taken");
  n.set_value("14");
  validate.add_arms()->set_variant("unavailable");
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_EQ(reply.error().message(),
            "arms[0]: variant `unavailable`: the host has no such instruction");
  validate.mutable_arms(0)->set_variant("twin");
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_TRUE(reply.has_validated());
}

TEST_F(RunnerTest, EndsAtABadFrame) {
  start();
  ASSERT_EQ(write(to_runner_, "\xFF\xFF\xFF\xFF", 4), 4);
  EXPECT_EQ(wait_for_end(), 1 << 8);
}

TEST_F(RunnerTest, EndsAtTheEndOfInput) {
  start();
  hang_up();
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(RunnerTest, KillsItselfASecondAfterItsDeadline) {
  start({.kind = PlantKind::kSpin, .seed = 7});
  v1::RunnerRequest request = open_request("twin");
  request.set_deadline_ns(1);
  v1::RunnerReply reply;
  EXPECT_EQ(ask(request, reply).code(), absl::StatusCode::kUnavailable);
  const int status = wait_for_end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_F(RunnerTest, EndsWhenTheOtherSideHangsUpDuringARequest) {
  start({.kind = PlantKind::kSpin, .seed = {}});
  ASSERT_TRUE(write_frame(to_runner_, open_request("twin"), soon()).ok());
  hang_up();
  EXPECT_TRUE(WIFSIGNALED(wait_for_end()));
}

TEST_F(RunnerTest, CrashesWhenPlanted) {
  start({.kind = PlantKind::kCrash, .seed = {}});
  v1::RunnerReply reply;
  EXPECT_EQ(ask(open_request("twin"), reply).code(), absl::StatusCode::kUnavailable);
  const int status = wait_for_end();
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

TEST_F(RunnerTest, ExitsWhenPlanted) {
  start({.kind = PlantKind::kExit, .seed = {}});
  v1::RunnerReply reply;
  EXPECT_EQ(ask(open_request("twin"), reply).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(wait_for_end(), 3 << 8);
}

TEST_F(RunnerTest, WritesGarbageWhenPlanted) {
  start({.kind = PlantKind::kGarbage, .seed = {}});
  v1::RunnerReply reply;
  EXPECT_EQ(ask(open_request("twin"), reply).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RunnerTest, KeepsWhatKernelsPrintOutOfTheFrames) {
  start({.kind = PlantKind::kPrint, .seed = {}});
  v1::RunnerReply reply;
  ASSERT_TRUE(ask(open_request("printing"), reply).ok());
  EXPECT_EQ(reply.opened().candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(RunnerTest, LeavesAPlantAloneUntilItsSeedComes) {
  start({.kind = PlantKind::kExit, .seed = 8});
  v1::RunnerReply reply;
  ASSERT_TRUE(ask(open_request("twin"), reply).ok());
  EXPECT_TRUE(reply.has_opened());
}

TEST_F(RunnerTest, DescribesDeviceAndCatalogueInItsHello) {
  start();
  EXPECT_EQ(hello_.protocol_version(), kProtocolVersion);
  EXPECT_EQ(hello_.device().backend(), "cpu");
  EXPECT_TRUE(hello_.device().available());
  ASSERT_EQ(hello_.operators_size(), 1);
  const v1::OperatorInfo& axpy = hello_.operators(0);
  EXPECT_EQ(axpy.variants(0).name(), "plain");
  EXPECT_EQ(axpy.variants(0).parameters_size(), 2);
  EXPECT_EQ(axpy.variants(0).stages_size(), 2);
  EXPECT_EQ(axpy.mutants(1).name(), "harmless");
  EXPECT_EQ(axpy.checks_size(), 7 + 16 + 3);
  EXPECT_EQ(axpy.checks(7).suite(), "invariances");
  EXPECT_EQ(axpy.checks(23).suite(), "mutants");
  EXPECT_EQ(axpy.bits_domain(), "any_device");
  EXPECT_EQ(axpy.tolerance_alarm(), 0.005);
  EXPECT_EQ(axpy.workloads(0).axes(0).value(), "64");
}

TEST_F(RunnerTest, CarriesAConfigurationFromOpenToClose) {
  start();
  v1::RunnerReply reply;
  ASSERT_TRUE(ask(open_request("twin"), reply).ok());
  ASSERT_TRUE(reply.has_opened());
  v1::RunnerRequest request;
  request.mutable_time()->set_num_rounds(1);
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_EQ(reply.timed().candidate().blocks_size(), 2);
  request.mutable_close();
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_TRUE(reply.has_closed());
  request.mutable_check()->set_operator_name("axpy");
  request.mutable_check()->set_suite("mutants");
  request.mutable_check()->set_name("adds_half");
  ASSERT_TRUE(ask(request, reply).ok());
  EXPECT_TRUE(reply.checked().passed());
}

}  // namespace
}  // namespace assay::profiler
