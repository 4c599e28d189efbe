#include "server/runner_process.h"

#include "tests/temporary_folder.h"

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace assay::server {
namespace {

using std::chrono::seconds;

std::vector<std::string> fake(std::vector<std::string> prefix = {}) {
  prefix.insert(prefix.end(), {ASSAY_FAKE_RUNNER, "--device", "cpu"});
  return prefix;
}

v1::RunnerRequest open_request(const std::string& behaviour) {
  v1::RunnerRequest request;
  v1::RunnerOpen& open = *request.mutable_open();
  for (const auto& [name, value] : {std::pair<std::string, std::string>("behaviour", behaviour),
                                    std::pair<std::string, std::string>("when", "open")}) {
    v1::Setting& axis = *open.mutable_workload()->add_axes();
    axis.set_name(name);
    axis.set_value(value);
  }
  open.mutable_baseline()->set_variant("base");
  return request;
}

struct Failure {
  const char* behaviour;
  absl::StatusCode code;
  const char* message;
};

// As a profiler does that writes its report when the program has ended.
TEST(RunnerProcess, LetsWhatStandsInFrontOfAnIdleRunnerSeeItsEnd) {
  const Folder folder;
  const std::string report = folder / "report";
  for (const bool quits : {false, true}) {
    auto runner = RunnerProcess::spawn(
        fake({"/bin/sh", "-c", "\"$@\"; sleep 0.1; echo ended >" + report, "sh"}));
    ASSERT_TRUE(runner.ok()) << runner.status();
    ASSERT_TRUE((*runner)->greet(seconds(10)).ok());
    if (quits) {
      (*runner)->quit();
    }
    EXPECT_TRUE((*runner)->end().ok());
    EXPECT_EQ(std::filesystem::exists(report), quits);
  }
}

TEST(RunnerProcess, SaysWhatARunnerDidWrong) {
  const Failure failures[] = {
      {"crash", absl::StatusCode::kUnavailable, "was killed by signal 11 (Segmentation fault)"},
      {"exit", absl::StatusCode::kUnavailable, "exited with status 3"},
      {"half_frame", absl::StatusCode::kUnavailable, "exited with status 0"},
      {"close_pipe", absl::StatusCode::kUnavailable, "closed its pipe"},
      {"garbage", absl::StatusCode::kDataLoss, "wrote no reply"},
      {"print", absl::StatusCode::kDataLoss, "wrote no reply"},
      {"hang", absl::StatusCode::kDeadlineExceeded, "no reply within 1 s"},
  };
  for (const Failure& failure : failures) {
    SCOPED_TRACE(failure.behaviour);
    auto runner = RunnerProcess::spawn(fake());
    ASSERT_TRUE(runner.ok()) << runner.status();
    ASSERT_TRUE((*runner)->greet(seconds(10)).ok());
    const bool hangs = std::string(failure.behaviour) == "hang";
    const auto reply = (*runner)->call(
        open_request(failure.behaviour), hangs ? seconds(1) : seconds(10), [](const auto&) {});
    EXPECT_EQ(reply.status().code(), failure.code) << reply.status();
    EXPECT_NE(std::string(reply.status().message()).find(failure.message), std::string::npos)
        << reply.status();
    EXPECT_TRUE((*runner)->end().ok());
    EXPECT_FALSE((*runner)->alive());
  }
}

TEST(RunnerProcess, RefusesAProgramThatIsNotThere) {
  EXPECT_EQ(RunnerProcess::spawn({"/nowhere/runner"}).status().code(), absl::StatusCode::kNotFound);
}

TEST(RunnerProcess, DoesNotWaitLongerThanAskedForAHello) {
  auto runner = RunnerProcess::spawn({"sh", "-c", "sleep 60"});
  ASSERT_TRUE(runner.ok()) << runner.status();
  EXPECT_EQ((*runner)->greet(std::chrono::milliseconds(100)).code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE((*runner)->end().ok());
}

TEST(RunnerProcess, SaysThatALauncherEndedBeforeTheHello) {
  auto runner = RunnerProcess::spawn({"sh", "-c", "echo no such host; exit 5"});
  ASSERT_TRUE(runner.ok()) << runner.status();
  const absl::Status greeted = (*runner)->greet(seconds(10));
  EXPECT_EQ(greeted.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(std::string(greeted.message()).find("exited with status 5"), std::string::npos)
      << greeted;
}

TEST(RunnerProcess, SaysWhatALauncherSaidLast) {
  const auto reason = [](const std::string& script) {
    auto runner = RunnerProcess::spawn({"sh", "-c", script});
    EXPECT_TRUE(runner.ok()) << runner.status();
    return std::string((*runner)->greet(seconds(10)).message());
  };
  EXPECT_EQ(reason("exit 5"), "the runner exited with status 5");
  EXPECT_EQ(reason("echo first >&2; echo 'ssh: no such host' >&2; echo >&2; exit 255"),
            "the runner exited with status 255: ssh: no such host");
  // More than a pipe holds.
  EXPECT_EQ(reason("head -c 1000000 /dev/zero | tr '\\0' '\\n' >&2; printf last >&2; exit 1"),
            "the runner exited with status 1: last");
}

TEST(RunnerProcess, AnswersThroughAPrefixAndAPreamble) {
  for (const auto& prefix :
       {std::vector<std::string>{"env", "X=1"},
        std::vector<std::string>{"sh", "-c", "echo 'Last login: ASSAYRN1'; exec \"$@\"", "sh"}}) {
    auto runner = RunnerProcess::spawn(fake(prefix));
    ASSERT_TRUE(runner.ok()) << runner.status();
    ASSERT_TRUE((*runner)->greet(seconds(10)).ok());
    EXPECT_EQ((*runner)->hello().device().model(), "scripted");
    int num_progress = 0;
    const auto reply = (*runner)->call(
        open_request("ok"), seconds(10), [&](const v1::RunnerProgress&) { ++num_progress; });
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_TRUE(reply->has_opened());
    EXPECT_EQ(num_progress, 1);
  }
}

TEST(RunnerProcess, ReturnsAtOnceWhenKilledByAnotherThread) {
  auto runner = RunnerProcess::spawn(fake());
  ASSERT_TRUE(runner.ok()) << runner.status();
  ASSERT_TRUE((*runner)->greet(seconds(10)).ok());
  std::thread killer;
  // Progress comes just before it hangs.
  const auto reply =
      (*runner)->call(open_request("hang"), seconds(60), [&](const v1::RunnerProgress&) {
        killer = std::thread([&] { (*runner)->kill(); });
      });
  killer.join();
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kCancelled) << reply.status();
  EXPECT_TRUE((*runner)->end().ok());
}

TEST(RunnerProcess, EndsWhatALauncherLeavesInItsGroup) {
  // The shell stays between the daemon and the runner, and has another child.
  auto runner = RunnerProcess::spawn(fake({"sh", "-c", "sleep 600 & \"$@\"; true", "sh"}));
  ASSERT_TRUE(runner.ok()) << runner.status();
  ASSERT_TRUE((*runner)->greet(seconds(10)).ok());
  const auto pid = static_cast<pid_t>((*runner)->hello().pid());
  const pid_t group = getpgid(pid);
  EXPECT_NE(group, pid);
  EXPECT_NE(group, getpgrp());
  EXPECT_TRUE((*runner)->end().ok());
  EXPECT_NE(kill(-group, 0), 0);
}

}  // namespace
}  // namespace assay::server
