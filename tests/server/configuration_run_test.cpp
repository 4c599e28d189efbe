#include "server/configuration_run.h"

#include "tests/server/fixture.h"

namespace assay::server {
namespace {

Description describe() {
  Description description;
  description.device.set_backend("cuda");
  v1::OperatorInfo& info = description.operators.emplace_back();
  info.set_name("fake");
  info.add_variants()->set_name("base");
  info.add_variants()->set_name("twin");
  return description;
}

TEST(ConfigurationRun, AsksForTheLaunchModeAndTellsWhyItIsRefused) {
  Daemon daemon;
  auto request = compare_request("r");
  request.mutable_spec()->set_launch_mode(v1::GRAPH);
  const Description description = describe();
  const auto plan = make_plan(request.spec(), description);
  ASSERT_TRUE(plan.ok()) << plan.status();
  RunContext context;
  context.device = &description.device;
  context.store = &daemon.store();
  context.goldens = &daemon.goldens();
  context.now_ns = [] { return std::int64_t{1}; };
  context.progress = [](double) {};
  v1::LaunchMode asked = v1::LAUNCH_MODE_UNSPECIFIED;
  const RunnerCall call = [&](const v1::RunnerRequest& sent, auto, const auto&) {
    asked = sent.open().launch_mode();
    v1::RunnerReply reply;
    reply.mutable_error()->set_refused(true);
    reply.mutable_error()->set_message("launch_mode: cannot be captured");
    return absl::StatusOr<v1::RunnerReply>(reply);
  };
  const auto run = run_configuration(*plan, plan->configuration(1), call, context);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(asked, v1::GRAPH);
  EXPECT_TRUE(run->runner_is_sound);
  EXPECT_EQ(run->configuration.outcome(), v1::REFUSED);
  EXPECT_EQ(run->configuration.message(), "launch_mode: cannot be captured");
}

TEST(ConfigurationRun, KeepsWhatTheCompilerWarnedOf) {
  Daemon daemon;
  auto request = compare_request("r");
  const Description description = describe();
  const auto plan = make_plan(request.spec(), description);
  ASSERT_TRUE(plan.ok()) << plan.status();
  RunContext context;
  context.device = &description.device;
  context.store = &daemon.store();
  context.goldens = &daemon.goldens();
  context.now_ns = [] { return std::int64_t{1}; };
  context.progress = [](double) {};
  const RunnerCall call = [](const v1::RunnerRequest& sent, auto, const auto& progress) {
    v1::RunnerReply reply;
    v1::RunnerProgress said;
    said.set_message("compiler:\nk.cu(3): warning: macro redefined");
    if (sent.has_open()) {
      progress(said);
      reply.mutable_opened()->mutable_baseline()->mutable_bits()->set_failed(v1::BITS_WRITTEN);
      reply.mutable_opened()->mutable_candidate();
    } else {
      reply.mutable_closed();
    }
    return absl::StatusOr<v1::RunnerReply>(reply);
  };
  const auto run = run_configuration(*plan, plan->configuration(1), call, context);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->configuration.outcome(), v1::FINISHED);
  EXPECT_EQ(run->configuration.failure(), v1::WRONG_OUTPUT);
  EXPECT_EQ(run->configuration.message(), "k.cu(3): warning: macro redefined");
}

}  // namespace
}  // namespace assay::server
