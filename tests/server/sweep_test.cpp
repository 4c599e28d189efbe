#include "server/sweep.h"

#include "proto/text.h"
#include "server/tuning_table.h"
#include "tests/server/fixture.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::server {
namespace {

// All sixteen speeds of the fake operator's knob: 13 crashes, 14 hangs, 15 does not compile, 16 has
// other bits, 9 is the fastest and 10 within its noise.
v1::SubmitRequest sweep_request(const std::string& request_id) {
  v1::SubmitRequest request = compare_request(request_id, {}, "knob");
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(v1::SWEEP);
  spec.set_deadline_ns(1'000'000'000);
  v1::Axis& axis = *spec.add_axes();
  axis.set_name("speed");
  for (int speed = 1; speed <= 16; ++speed) {
    axis.add_values(std::to_string(speed));
  }
  return request;
}

std::string speed_of(const v1::Configuration& configuration) {
  return configuration.candidate_arm().parameters(0).value();
}

std::vector<std::string> speeds_of(const v1::Experiment& experiment) {
  std::vector<std::string> speeds;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    speeds.push_back(speed_of(configuration));
  }
  return speeds;
}

std::vector<v1::Tuning> tunings_of(Daemon& daemon) {
  return *daemon.store().tunings(v1::ListTuningsRequest());
}

TEST(Sweep, ClassesEveryFailureAndRanksTheRest) {
  Daemon daemon;
  const v1::Experiment experiment = daemon.run(sweep_request("r"));
  ASSERT_EQ(experiment.state(), v1::DONE) << experiment.message();
  ASSERT_EQ(experiment.configurations_size(), 16);
  std::map<std::string, v1::FailureClass> failures;
  tuning::Race race;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    race.add(configuration);
    if (configuration.failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
      failures[speed_of(configuration)] = configuration.failure();
    }
  }
  const std::map<std::string, v1::FailureClass> expected = {
      {"13", v1::RUNTIME}, {"14", v1::TIMEOUT}, {"15", v1::COMPILE}, {"16", v1::BIT_DRIFT}};
  EXPECT_EQ(failures, expected);
  const tuning::RaceResult result = race.result();
  ASSERT_TRUE(result.winner.has_value());
  EXPECT_EQ(proto::text_of(result.entries[*result.winner].arm), "knob:speed=9");
  EXPECT_NEAR(result.ratio, 0.7, 0.001);
  for (const tuning::RaceEntry& entry : result.entries) {
    if (proto::text_of(entry.arm) == "knob:speed=10") {
      EXPECT_EQ(entry.standing, tuning::Standing::kTied);
      EXPECT_NEAR(entry.ratio, 703.0 / 700.0, 1e-3);
    }
    if (proto::text_of(entry.arm) == "knob:speed=12") {
      EXPECT_EQ(entry.standing, tuning::Standing::kDropped);
    }
  }
}

TEST(Sweep, DropsTheHopelessAfterThreeRounds) {
  Daemon daemon;
  const v1::Experiment experiment = daemon.run(sweep_request("r"));
  // 11 and 12 are slower than 9 by more than a tenth.
  for (const v1::Configuration& configuration : experiment.configurations()) {
    if (speed_of(configuration) == "11" || speed_of(configuration) == "12") {
      EXPECT_EQ(configuration.stopped_because(),
                "dropped: at least 5 % slower than the incumbent in each of 3 rounds");
      EXPECT_EQ(configuration.baseline().blocks_size(), 3);
    }
  }
  auto patient = sweep_request("patient");
  patient.mutable_spec()->mutable_sweep()->set_drop_above(0.9);
  Daemon another;
  const v1::Experiment whole = another.run(patient);
  for (const v1::Configuration& configuration : whole.configurations()) {
    EXPECT_FALSE(configuration.stopped_because().starts_with("dropped"))
        << configuration.stopped_because();
  }
}

TEST(Sweep, BeginsWithTheStoredWinnerAndKeepsItWithinTheNoise) {
  Daemon daemon;
  auto narrow = sweep_request("narrow");
  narrow.mutable_spec()->mutable_axes(0)->clear_values();
  for (const char* speed : {"1", "10"}) {
    narrow.mutable_spec()->mutable_axes(0)->add_values(speed);
  }
  ASSERT_EQ(daemon.run(narrow).state(), v1::DONE);
  ASSERT_EQ(tunings_of(daemon).size(), 1U);
  EXPECT_EQ(proto::text_of(tunings_of(daemon)[0].arm()), "knob:speed=10");

  const v1::Experiment whole = daemon.run(sweep_request("whole"));
  EXPECT_EQ(speed_of(whole.configurations(0)), "10");
  ASSERT_EQ(tunings_of(daemon).size(), 1U);
  const v1::Tuning winner = tunings_of(daemon)[0];
  EXPECT_EQ(proto::text_of(winner.arm()), "knob:speed=10");
  ASSERT_EQ(winner.ties_size(), 1);
  EXPECT_EQ(proto::text_of(winner.ties(0)), "knob:speed=9");
  EXPECT_EQ(winner.experiment_id(), whole.experiment_id());
  EXPECT_EQ(winner.num_configurations(), 16U);
  EXPECT_EQ(winner.num_failed(), 4U);
}

TEST(Sweep, GoesOnWhereTheDaemonStopped) {
  Daemon whole_daemon;
  const auto wanted = speeds_of(whole_daemon.run(sweep_request("r")));
  Daemon daemon;
  const auto submitted = daemon.submit(sweep_request("r"));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::int64_t id = submitted->experiment_id();
  daemon.wait_until(id, [](const v1::Experiment& e) { return e.num_finished() >= 4; });
  daemon.restart();
  v1::GetRequest request;
  request.set_experiment_id(id);
  const auto stopped = daemon.scheduler().get(request);
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_EQ(stopped->state(), v1::INTERRUPTED);
  const int num_before = stopped->configurations_size();
  EXPECT_GE(num_before, 4);
  EXPECT_LT(num_before, 16);

  const auto resumed = daemon.scheduler().resume(id);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  const v1::Experiment done = daemon.wait_until_final(id);
  EXPECT_EQ(done.state(), v1::DONE) << done.message();
  EXPECT_EQ(speeds_of(done), wanted);
  EXPECT_EQ(proto::text_of(tunings_of(daemon)[0].arm()), "knob:speed=9");
  EXPECT_EQ(daemon.scheduler().resume(id).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Sweep, MakesWayForAComparisonBetweenConfigurations) {
  Daemon daemon;
  const auto sweep = daemon.submit(sweep_request("sweep"));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  daemon.wait_until_running(sweep->experiment_id());
  const v1::Experiment comparison = daemon.run(compare_request("compare"));
  EXPECT_EQ(comparison.state(), v1::DONE) << comparison.message();
  const v1::Experiment done = daemon.wait_until_final(sweep->experiment_id());
  EXPECT_EQ(done.state(), v1::DONE) << done.message();
  EXPECT_EQ(done.configurations_size(), 16);
  EXPECT_LT(comparison.finished_ns(), done.finished_ns());
}

TEST(Sweep, EndsWhenItIsCancelledAndCanGoOn) {
  Daemon daemon;
  const auto submitted = daemon.submit(sweep_request("r"));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  const std::int64_t id = submitted->experiment_id();
  daemon.wait_until(id, [](const v1::Experiment& e) { return e.num_finished() >= 2; });
  const auto cancelled = daemon.scheduler().cancel(id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state(), v1::CANCELLED);
  EXPECT_TRUE(tunings_of(daemon).empty());
  ASSERT_TRUE(daemon.scheduler().resume(id).ok());
  EXPECT_EQ(daemon.wait_until_final(id).configurations_size(), 16);
}

TEST(Sweep, StopsAtItsBudgetOfConfigurations) {
  Daemon daemon;
  auto request = sweep_request("r");
  request.mutable_spec()->mutable_sweep()->set_max_configurations(5);
  request.mutable_spec()->mutable_sweep()->set_strategy("random");
  const v1::Experiment experiment = daemon.run(request);
  EXPECT_EQ(experiment.state(), v1::DONE) << experiment.message();
  EXPECT_EQ(experiment.num_configurations(), 5U);
  EXPECT_EQ(experiment.num_finished(), 5U);
  EXPECT_EQ(experiment.message(), "11 of 16 configurations not tried: at most 5 were asked for");
  const auto speeds = speeds_of(experiment);
  EXPECT_EQ((std::set<std::string>(speeds.begin(), speeds.end()).size()), 5U);
}

TEST(Sweep, StopsAtItsBudgetOfTime) {
  Daemon daemon;
  auto request = sweep_request("r");
  request.mutable_spec()->mutable_sweep()->set_budget_ns(1);
  const v1::Experiment experiment = daemon.run(request);
  EXPECT_EQ(experiment.state(), v1::DONE) << experiment.message();
  EXPECT_EQ(experiment.num_configurations(), 1U);
  EXPECT_EQ(experiment.message(),
            "15 of 16 configurations not tried: the budget of 0.0010 us was spent");
}

TEST(Sweep, RacesEachWorkloadByItself) {
  Daemon daemon;
  auto request = sweep_request("r");
  v1::Axis& rows = *request.mutable_spec()->add_axes();
  rows.set_name("rows");
  rows.add_values("4");
  rows.add_values("8");
  request.mutable_spec()->mutable_axes(0)->clear_values();
  for (const char* speed : {"8", "9"}) {
    request.mutable_spec()->mutable_axes(0)->add_values(speed);
  }
  const v1::Experiment experiment = daemon.run(request);
  ASSERT_EQ(experiment.configurations_size(), 4) << experiment.message();
  EXPECT_EQ(experiment.configurations(2).baseline_arm().variant(), "base");
  EXPECT_EQ(tunings_of(daemon).size(), 2U);
  EXPECT_EQ(experiment.message(), "");
  request.set_request_id("one of each");
  request.mutable_spec()->mutable_sweep()->set_max_configurations(1);
  EXPECT_EQ(daemon.run(request).message(),
            "2 of 4 configurations not tried: at most 1 of each workload were asked for");
}

TEST(Sweep, RefusesAnotherPastThanItsOwn) {
  Description description;
  v1::OperatorInfo& info = description.operators.emplace_back();
  info.set_name("fake");
  info.add_variants()->set_name("base");
  v1::VariantInfo& knob = *info.add_variants();
  knob.set_name("knob");
  v1::AxisInfo& speed = *knob.add_parameters();
  speed.set_name("speed");
  speed.set_default_value("1");
  speed.set_min(1);
  speed.set_max(16);
  const auto plan = make_plan(sweep_request("r").spec(), description);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->num_configurations(), 16U);
  Sweep sweep(*plan, {});
  const auto first = sweep.next();
  ASSERT_TRUE(first.ok() && first->has_value());
  v1::Configuration other = **first;
  other.mutable_candidate_arm()->mutable_parameters(0)->set_value("7");
  EXPECT_EQ(sweep.tell(other).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace assay::server
