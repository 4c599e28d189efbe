#include "server/scheduler.h"

#include "tests/server/fixture.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace assay::server {
namespace {

v1::Experiment with_samples(Daemon& daemon, std::int64_t id) {
  v1::GetRequest request;
  request.set_experiment_id(id);
  request.set_include_samples(true);
  auto experiment = daemon.scheduler().get(request);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return experiment.ok() ? *experiment : v1::Experiment();
}

struct Fault {
  const char* behaviour;
  v1::Outcome outcome;
  const char* message;
};

TEST(Scheduler, KeepsEachFaultOfARunnerAsAResultAndGoesOn) {
  const Fault faults[] = {
      {"crash", v1::CRASHED, "the runner was killed by signal 11 (Segmentation fault)"},
      {"exit", v1::CRASHED, "the runner exited with status 3"},
      {"close_pipe", v1::CRASHED, "the runner closed its pipe and went on running"},
      {"error", v1::CRASHED, "scripted"},
      {"garbage", v1::BAD_FRAME, "the runner wrote no reply"},
      {"print", v1::BAD_FRAME, "the runner wrote no reply"},
      {"hang", v1::TIMED_OUT, "no reply within 0.3 s"},
  };
  // A runner that starts while the one before it lives finds the lock taken and does not start.
  const Folder folder;
  const std::string alone = "exec 9> " + (folder / "lock") + "; flock -n 9 || exit 99; exec \"$@\"";
  Daemon daemon({device_config("cpu", {"bash", "-c", alone, "bash"})});
  std::vector<std::string> behaviours;
  for (const Fault& fault : faults) {
    behaviours.emplace_back(fault.behaviour);
    behaviours.emplace_back("ok");
  }
  for (const char* when : {"open", "time", "close"}) {
    SCOPED_TRACE(when);
    auto request = compare_request(when, {{"behaviour", behaviours}, {"when", {when}}});
    request.mutable_spec()->set_deadline_ns(300'000'000);
    const v1::Experiment experiment = daemon.run(request);
    EXPECT_EQ(experiment.state(), v1::DONE) << experiment.message();
    ASSERT_EQ(experiment.configurations_size(), static_cast<int>(behaviours.size()));
    for (int i = 0; i < experiment.configurations_size(); i += 2) {
      const Fault& fault = faults[i / 2];
      SCOPED_TRACE(fault.behaviour);
      const v1::Configuration& bad = experiment.configurations(i);
      EXPECT_EQ(bad.outcome(), fault.outcome) << bad.message();
      EXPECT_NE(bad.message().find(fault.message), std::string::npos) << bad.message();
      EXPECT_TRUE(bad.verdicts().empty());
      EXPECT_EQ(experiment.configurations(i + 1).outcome(), v1::FINISHED)
          << experiment.configurations(i + 1).message();
    }
  }
  const v1::Device device = daemon.scheduler().devices(Daemon::deadline()).devices(0);
  EXPECT_GE(device.num_runner_restarts(), 20U);
  EXPECT_FALSE(device.last_runner_failure().empty());
}

TEST(Scheduler, KeepsARunnerThatRefuses) {
  Daemon daemon;
  const v1::Experiment experiment =
      daemon.run(compare_request("r", {{"behaviour", {"refuse", "ok"}}}));
  EXPECT_EQ(experiment.configurations(0).outcome(), v1::REFUSED);
  EXPECT_EQ(experiment.configurations(0).message(), "scripted");
  EXPECT_EQ(experiment.configurations(1).outcome(), v1::FINISHED);
  EXPECT_EQ(daemon.scheduler().devices(Daemon::deadline()).devices(0).num_runner_restarts(), 0U);
}

TEST(Scheduler, CallsARunnerThatTimesNothingBroken) {
  Daemon daemon;
  const v1::Experiment experiment =
      daemon.run(compare_request("r", {{"behaviour", {"no_rounds"}}}));
  EXPECT_EQ(experiment.configurations(0).outcome(), v1::BAD_FRAME);
}

TEST(Scheduler, ReplacesARunnerThatDiedWhileIdle) {
  const Folder folder;
  const std::string file = folder / "pid";
  Daemon daemon({device_config("cpu", {"sh", "-c", "echo $$ > " + file + "; exec \"$@\"", "sh"})});
  ASSERT_EQ(daemon.run(compare_request("a")).state(), v1::DONE);
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  ASSERT_GT(pid, 0);
  ASSERT_EQ(kill(pid, SIGKILL), 0);
  // Dead, but not reaped: that is the worker's to do.
  siginfo_t info = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(daemon.run(compare_request("b")).configurations(0).outcome(), v1::FINISHED);
  const v1::Device device = daemon.scheduler().devices(Daemon::deadline()).devices(0);
  EXPECT_EQ(device.num_runner_restarts(), 1U);
  EXPECT_EQ(device.last_runner_failure(), "the idle runner was killed by signal 9 (Killed)");
}

TEST(Scheduler, SaysThatARunnerDoesNotStart) {
  Daemon daemon({device_config("cpu", {"sh", "-c", "exit 7", "sh"})});
  const auto submitted = daemon.submit(compare_request("r"));
  EXPECT_EQ(submitted.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(submitted.status().message()).find("exited with status 7"),
            std::string::npos)
      << submitted.status();
}

TEST(Scheduler, RefusesWhatTheOperatorRefusesBeforeItIsQueued) {
  Daemon daemon;
  const auto submitted = daemon.submit(compare_request("r", {{"rows", {"12", "13"}}}));
  EXPECT_EQ(submitted.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(submitted.status().message(), "spec: rows: 13 is unlucky");
  EXPECT_TRUE(daemon.scheduler().list({})->experiments().empty());
}

TEST(Scheduler, CancelsAQueuedExperimentWithoutStartingIt) {
  Daemon daemon;
  const auto running = daemon.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  const auto queued = daemon.submit(compare_request("b"));
  ASSERT_TRUE(running.ok() && queued.ok());
  daemon.wait_until_running(running->experiment_id());
  const auto cancelled = daemon.scheduler().cancel(queued->experiment_id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state(), v1::CANCELLED);
  EXPECT_EQ(cancelled->started_ns(), 0);
  EXPECT_EQ(daemon.scheduler().cancel(running->experiment_id())->state(), v1::CANCELLED);
}

TEST(Scheduler, CancelsARunningExperimentAndKeepsWhatWasFinished) {
  Daemon daemon;
  const auto submitted = daemon.submit(compare_request("a", {{"behaviour", {"ok", "hang", "ok"}}}));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  daemon.wait_until(submitted->experiment_id(),
                    [](const v1::Experiment& e) { return e.num_finished() == 1; });
  const auto cancelled = daemon.scheduler().cancel(submitted->experiment_id());
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state(), v1::CANCELLED);
  EXPECT_EQ(cancelled->configurations_size(), 1);
  EXPECT_EQ(daemon.run(compare_request("b")).state(), v1::DONE);
  // Cancelling what has ended changes nothing.
  EXPECT_EQ(daemon.scheduler().cancel(submitted->experiment_id())->state(), v1::CANCELLED);
}

TEST(Scheduler, RunsInTheOrderOfSubmissionAndShowsThePosition) {
  Daemon daemon;
  const auto first = daemon.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  daemon.wait_until_running(first->experiment_id());
  std::vector<std::int64_t> ids;
  for (const char* name : {"b", "c", "d"}) {
    const auto queued = daemon.submit(compare_request(name));
    ASSERT_TRUE(queued.ok()) << queued.status();
    ids.push_back(queued->experiment_id());
    EXPECT_EQ(queued->queue_position(), ids.size());
  }
  EXPECT_EQ(daemon.scheduler().devices(Daemon::deadline()).devices(0).queue_length(), 3U);
  ASSERT_TRUE(daemon.scheduler().cancel(first->experiment_id()).ok());
  std::vector<std::int64_t> started;
  for (const std::int64_t id : ids) {
    started.push_back(daemon.wait_until_final(id).started_ns());
  }
  EXPECT_TRUE(std::ranges::is_sorted(started));
}

TEST(Scheduler, GivesTheSameExperimentForTheSameRequest) {
  Daemon daemon;
  const auto first = daemon.submit(compare_request("a"));
  const auto again = daemon.submit(compare_request("a"));
  ASSERT_TRUE(first.ok() && again.ok()) << first.status() << again.status();
  EXPECT_EQ(first->experiment_id(), again->experiment_id());
  EXPECT_EQ(daemon.submit(compare_request("a", {{"rows", {"5"}}})).status().code(),
            absl::StatusCode::kAlreadyExists);
  daemon.wait_until_final(first->experiment_id());
  EXPECT_EQ(daemon.submit(compare_request("a"))->state(), v1::DONE);
}

TEST(Scheduler, InterruptsWhatRunsWhenItStopsAndGoesOnWithTheQueue) {
  Daemon daemon;
  const auto running = daemon.submit(compare_request("a", {{"behaviour", {"ok", "hang"}}}));
  const auto queued = daemon.submit(compare_request("b"));
  ASSERT_TRUE(running.ok() && queued.ok());
  daemon.wait_until(running->experiment_id(),
                    [](const v1::Experiment& e) { return e.num_finished() == 1; });
  daemon.restart();
  const v1::Experiment interrupted = daemon.wait_until_final(running->experiment_id());
  EXPECT_EQ(interrupted.state(), v1::INTERRUPTED);
  EXPECT_EQ(interrupted.message(), "the daemon was stopped");
  EXPECT_EQ(interrupted.configurations_size(), 1);
  EXPECT_EQ(daemon.wait_until_final(queued->experiment_id()).state(), v1::DONE);
}

TEST(Scheduler, JudgesAtTheLooksAndKeepsEverySample) {
  Daemon daemon;
  const v1::Experiment done = daemon.run(compare_request("a", {}, "fast"));
  const v1::Experiment experiment = with_samples(daemon, done.experiment_id());
  ASSERT_EQ(experiment.configurations_size(), 1);
  const v1::Configuration& configuration = experiment.configurations(0);
  ASSERT_EQ(configuration.verdicts_size(), 1);
  EXPECT_EQ(configuration.verdicts(0).verdict(), v1::FASTER) << configuration.verdicts(0).reason();
  EXPECT_EQ(configuration.stopped_because(), "verdict reached");
  EXPECT_EQ(configuration.baseline().blocks_size(), 12);
  EXPECT_EQ(configuration.candidate().blocks_size(), 24);
  ASSERT_EQ(configuration.candidate().stages_size(), 2);
  EXPECT_EQ(configuration.candidate().stages(1).stage(), "total");
  EXPECT_EQ(configuration.candidate().stages(1).samples_ns_size(), 24 * 20);
  EXPECT_EQ(experiment.worst_verdict(), v1::FASTER);
  EXPECT_EQ(experiment.device().model(), "scripted");
}

TEST(Scheduler, GoesOnUntilTheIntervalIsAsNarrowAsAsked) {
  Daemon daemon;
  const auto run = [&](const std::string& id, double width) {
    auto request = compare_request(id, {}, "fast");
    request.mutable_spec()->set_interval_width(width);
    return daemon.run(request).configurations(0);
  };
  const v1::Configuration wide = run("a", 0.01);
  EXPECT_EQ(wide.stopped_because(), "interval as narrow as asked");
  EXPECT_EQ(wide.verdicts(0).stages(0).num_rounds(), 12U);
  // Narrower than any: a verdict alone is not enough.
  const v1::Configuration narrow = run("b", 1e-9);
  EXPECT_EQ(narrow.stopped_because(), "rounds used");
  EXPECT_EQ(narrow.verdicts(0).stages(0).num_rounds(), 48U);
  EXPECT_EQ(narrow.verdicts(0).verdict(), v1::FASTER);
}

TEST(Scheduler, SaysWhatWouldHaveGivenEnoughRounds) {
  Daemon daemon;
  auto request = compare_request("few rounds", {}, "fast");
  request.mutable_spec()->set_max_rounds(3);
  const v1::Configuration few = daemon.run(request).configurations(0);
  EXPECT_TRUE(few.verdicts(0).reason().ends_with("; the rounds were used: raise --rounds"))
      << few.verdicts(0).reason();
}

TEST(Scheduler, DoesNotTimeWhatItRejects) {
  Daemon daemon;
  for (const char* variant : {"drift", "other"}) {
    const v1::Experiment experiment = daemon.run(compare_request(variant, {}, variant));
    const v1::Configuration& configuration = experiment.configurations(0);
    EXPECT_EQ(configuration.outcome(), v1::FINISHED);
    EXPECT_EQ(configuration.verdicts(0).verdict(), v1::REJECTED);
    EXPECT_EQ(configuration.verdicts(0).rejected_by(), v1::BITS_EQUAL);
    EXPECT_TRUE(configuration.baseline().blocks().empty());
  }
}

TEST(Scheduler, ShowsWithADeviceWhatItsNewestBenchMeasured) {
  Daemon daemon;
  v1::SubmitRequest request;
  request.set_request_id("bench");
  request.mutable_spec()->set_kind(v1::BENCH);
  request.mutable_spec()->set_device("cpu");
  const v1::Experiment bench = daemon.run(request);
  ASSERT_EQ(bench.state(), v1::DONE) << bench.message();
  ASSERT_EQ(bench.configurations_size(), 1);
  EXPECT_EQ(bench.configurations(0).verdicts_size(), 0);
  ASSERT_EQ(bench.configurations(0).ceilings_size(), 1);
  const v1::Ceiling& ceiling = bench.configurations(0).ceilings(0);
  EXPECT_EQ(ceiling.device_uuid(), "fake-uuid");
  EXPECT_EQ(ceiling.experiment_id(), bench.experiment_id());
  EXPECT_GT(ceiling.measured_ns(), 0);

  const v1::Experiment after = daemon.run(compare_request("after"));
  ASSERT_EQ(after.device().ceilings_size(), 1);
  EXPECT_EQ(after.device().ceilings(0).value(), 4.5e12);
}

v1::SubmitRequest calibrate_request(const std::string& request_id) {
  v1::SubmitRequest request = compare_request(request_id);
  request.mutable_spec()->set_kind(v1::CALIBRATE);
  request.mutable_spec()->clear_candidates();
  return request;
}

TEST(Scheduler, CalibratesTheNamedWorkloadsAndJudgesBeyondTheirNoise) {
  Daemon daemon;
  const v1::Experiment control = daemon.run(calibrate_request("a"));
  ASSERT_EQ(control.state(), v1::DONE) << control.message();
  ASSERT_EQ(control.configurations_size(), 1);
  EXPECT_EQ(control.configurations(0).workload().name(), "tall");
  EXPECT_EQ(control.configurations(0).candidate_arm().variant(), "base");
  const v1::Verdict& verdict = control.configurations(0).verdicts(0);
  EXPECT_TRUE(verdict.identical_code());
  EXPECT_FALSE(verdict.has_noise_floor());

  auto request = compare_request("b", {}, "fast");
  request.mutable_spec()->add_workloads("tall");
  const v1::Experiment judged = daemon.run(request);
  const v1::Verdict& beyond = judged.configurations(0).verdicts(0);
  EXPECT_EQ(beyond.verdict(), v1::FASTER) << beyond.reason();
  ASSERT_TRUE(beyond.has_noise_floor());
  EXPECT_GT(beyond.noise_floor(), 0);
  EXPECT_LT(beyond.noise_floor(), 0.01);
  EXPECT_EQ(beyond.noise_floor_experiment_id(), control.experiment_id());
  EXPECT_EQ(beyond.noise_floor_ns(), verdict.judged_ns());
  EXPECT_EQ(beyond.noise_floor_stale(), "");

  const v1::Experiment elsewhere = daemon.run(compare_request("c", {}, "fast"));
  EXPECT_FALSE(elsewhere.configurations(0).verdicts(0).has_noise_floor());
}

TEST(Scheduler, RefusesACalibrationOfTwoArms) {
  Daemon daemon;
  auto request = compare_request("a");
  request.mutable_spec()->set_kind(v1::CALIBRATE);
  EXPECT_EQ(daemon.submit(request).status(),
            absl::InvalidArgumentError("spec.candidates: a CALIBRATE takes the baseline alone"));
}

TEST(Scheduler, JudgesStoredSamplesAgainAndAddsOnlyWhatDiffers) {
  Daemon daemon;
  auto request = compare_request("a", {}, "fast");
  request.mutable_spec()->add_workloads("tall");
  const v1::Experiment experiment = daemon.run(request);
  v1::JudgeRequest again;
  again.set_experiment_id(experiment.experiment_id());
  auto judged = daemon.scheduler().judge(again);
  ASSERT_TRUE(judged.ok()) << judged.status();
  EXPECT_EQ(judged->num_judged(), 1U);
  EXPECT_EQ(judged->num_added(), 0U);
  EXPECT_EQ(judged->experiment().configurations(0).verdicts_size(), 1);

  again.set_least_effect(0.5);
  judged = daemon.scheduler().judge(again);
  ASSERT_TRUE(judged.ok()) << judged.status();
  EXPECT_EQ(judged->num_added(), 1U);
  EXPECT_EQ(judged->experiment().configurations(0).verdicts(1).least_effect(), 0.5);

  // What is known of the noise now counts too.
  ASSERT_EQ(daemon.run(calibrate_request("b")).state(), v1::DONE);
  judged = daemon.scheduler().judge(again);
  ASSERT_TRUE(judged.ok()) << judged.status();
  ASSERT_EQ(judged->experiment().configurations(0).verdicts_size(), 3);
  EXPECT_TRUE(judged->experiment().configurations(0).verdicts(2).has_noise_floor());
  EXPECT_FALSE(judged->experiment().configurations(0).verdicts(0).has_noise_floor());
}

TEST(Scheduler, JudgesOnlyWhatHasAVerdictInTime) {
  Daemon daemon;
  v1::JudgeRequest again;
  EXPECT_EQ(daemon.scheduler().judge(again).status().code(), absl::StatusCode::kNotFound);
  auto request = compare_request("a");
  request.mutable_spec()->set_kind(v1::MEASURE);
  request.mutable_spec()->clear_candidates();
  daemon.run(request);
  EXPECT_EQ(
      daemon.scheduler().judge(again).status(),
      absl::FailedPreconditionError("experiment 1 is a MEASURE, which has no verdict in time"));
  const auto running = daemon.submit(compare_request("b", {{"behaviour", {"hang"}}}));
  ASSERT_TRUE(running.ok());
  again.set_experiment_id(running->experiment_id());
  EXPECT_EQ(daemon.scheduler().judge(again).status().code(), absl::StatusCode::kFailedPrecondition);
  again.set_least_effect(0.6);
  EXPECT_EQ(daemon.scheduler().judge(again).status(),
            absl::InvalidArgumentError("least_effect: must be in [0, 0.5]"));
  ASSERT_TRUE(daemon.scheduler().cancel(running->experiment_id()).ok());
}

TEST(Scheduler, MeasuresOneArmWithoutAJudgement) {
  Daemon daemon;
  auto request = compare_request("a");
  request.mutable_spec()->set_kind(v1::MEASURE);
  request.mutable_spec()->clear_candidates();
  request.mutable_spec()->set_max_rounds(20);
  const v1::Experiment experiment = daemon.run(request);
  const v1::Configuration& configuration = experiment.configurations(0);
  EXPECT_EQ(configuration.verdicts(0).verdict(), v1::NOT_JUDGED);
  EXPECT_EQ(configuration.baseline().blocks_size(), 20);
  EXPECT_EQ(configuration.stopped_because(), "rounds used");
  EXPECT_FALSE(configuration.has_candidate());
}

TEST(Scheduler, RejectsBitsThatAreNotGolden) {
  v1::Golden golden;
  golden.set_operator_name("fake");
  golden.set_workload("behaviour=ok,when=open,ns=1000000,rows=4,seed=0");
  golden.set_tensor("out");
  golden.set_family("baseline");
  golden.set_domain("any_device");
  golden.set_digest(std::string(32, 'e'));
  Daemon daemon({device_config("cpu")}, {golden});
  const v1::Experiment experiment = daemon.run(compare_request("a"));
  const v1::Verdict& verdict = experiment.configurations(0).verdicts(0);
  EXPECT_EQ(verdict.verdict(), v1::REJECTED);
  EXPECT_EQ(verdict.rejected_by(), v1::BITS_GOLDEN) << verdict.reason();
  EXPECT_EQ(verdict.golden(), "differs");
  EXPECT_EQ(
      daemon.run(compare_request("b", {{"rows", {"5"}}})).configurations(0).verdicts(0).golden(),
      "none stored");
}

TEST(Scheduler, ComparesTheCasesOfACheckWithGoldens) {
  v1::Golden golden;
  golden.set_operator_name("fake");
  golden.set_workload("parity/small/0");
  golden.set_tensor("all");
  golden.set_family("baseline");
  golden.set_domain("any_device");
  golden.set_digest(std::string(32, 'c'));
  v1::Golden wrong = golden;
  wrong.set_workload("parity/large/1");
  Daemon daemon({device_config("cpu")}, {golden, wrong});
  auto request = compare_request("a");
  request.mutable_spec()->set_kind(v1::CHECK);
  request.mutable_spec()->clear_baseline();
  request.mutable_spec()->clear_candidates();
  const v1::Experiment experiment = daemon.run(request);
  EXPECT_EQ(experiment.state(), v1::DONE) << experiment.message();
  ASSERT_EQ(experiment.configurations_size(), 3);
  const v1::CheckResult& small = experiment.configurations(0).check();
  EXPECT_TRUE(small.passed());
  EXPECT_EQ(small.num_goldens_reproduced(), 1U);
  EXPECT_EQ(small.num_goldens_missing(), 1U);
  const v1::CheckResult& large = experiment.configurations(1).check();
  EXPECT_FALSE(large.passed());
  EXPECT_EQ(large.num_goldens_differing(), 1U);
  EXPECT_EQ(large.rejected_by(), v1::BITS_GOLDEN);
  EXPECT_TRUE(experiment.configurations(2).check().passed());
}

TEST(Scheduler, NamesTheItemOfACheckThatDidNotFinishAndGoesOn) {
  Daemon daemon;
  auto request = compare_request("a");
  request.mutable_spec()->set_kind(v1::CHECK);
  request.mutable_spec()->clear_baseline();
  request.mutable_spec()->clear_candidates();
  request.mutable_spec()->set_seed(13);
  const v1::Experiment experiment = daemon.run(request);
  EXPECT_EQ(experiment.state(), v1::DONE);
  ASSERT_EQ(experiment.configurations_size(), 3);
  const v1::Configuration& crashed = experiment.configurations(1);
  EXPECT_EQ(crashed.outcome(), v1::CRASHED);
  EXPECT_EQ(crashed.message(), "the runner was killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(crashed.check().suite(), "parity");
  EXPECT_EQ(crashed.check().name(), "large");
  EXPECT_FALSE(crashed.check().passed());
  EXPECT_EQ(experiment.configurations(2).outcome(), v1::FINISHED);
}

TEST(Scheduler, EstimatesFromWhatExperimentsLikeItTook) {
  Daemon daemon;
  const auto first = daemon.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  daemon.wait_until_running(first->experiment_id());
  // Nothing is known yet.
  const auto early = daemon.submit(compare_request("b"));
  ASSERT_TRUE(early.ok()) << early.status();
  EXPECT_EQ(early->estimate_ns(), 0);
  ASSERT_TRUE(daemon.scheduler().cancel(first->experiment_id()).ok());
  const std::int64_t took =
      daemon.wait_until_final(early->experiment_id()).configurations(0).elapsed_ns();
  const auto running = daemon.submit(compare_request("c", {{"behaviour", {"hang", "ok"}}}));
  const v1::Experiment started = daemon.wait_until_running(running->experiment_id());
  EXPECT_EQ(started.estimate_ns(), 2 * took);
  // What is ahead counts as well.
  const auto queued = daemon.submit(compare_request("d", {{"rows", {"5", "6", "7"}}}));
  ASSERT_TRUE(queued.ok()) << queued.status();
  EXPECT_EQ(queued->queue_position(), 1U);
  EXPECT_EQ(queued->estimate_ns(), 5 * took);
  ASSERT_TRUE(daemon.scheduler().cancel(queued->experiment_id()).ok());
}

// Until the end of a test no file of this process may grow past `limit`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t limit) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit small = before_;
    small.rlim_cur = limit;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  }

  ~FullDisk() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before_), 0);
    std::signal(SIGXFSZ, handler_);
  }

  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_ = {};
  void (*handler_)(int);
};

TEST(Scheduler, FailsClearlyOnAFullDiskAndGoesOnWhenThereIsSpace) {
  Daemon daemon;
  const std::vector<std::string> many(500, "5");
  std::int64_t id = 0;
  {
    const FullDisk full(600'000);
    const auto submitted = daemon.submit(compare_request("a", {{"rows", many}}));
    ASSERT_TRUE(submitted.ok()) << submitted.status();
    id = submitted->experiment_id();
    // Either the end is stored in what little is left, or it waits for space and says so; then
    // nothing else can be stored either.
    bool ended = false;
    std::string waits;
    for (int number = 0; !ended && waits.empty(); ++number) {
      const auto update = daemon.scheduler().next_state(id, 0, std::chrono::milliseconds(100));
      ASSERT_TRUE(update.ok()) << update.status();
      ended = update->final;
      waits = update->experiment.message();
      v1::SubmitRequest other = compare_request("other " + std::to_string(number));
      other.mutable_spec()->set_label(std::string(200, 'x'));
      const absl::Status refused = daemon.store().submit(other, 1, 1).status();
      EXPECT_TRUE(refused.ok() || absl::IsResourceExhausted(refused)) << refused;
    }
    if (!ended) {
      EXPECT_TRUE(waits.starts_with("its end is not stored yet: no space left for the database"))
          << waits;
    }
  }
  const v1::Experiment failed = daemon.wait_until_final(id);
  EXPECT_EQ(failed.state(), v1::FAILED);
  EXPECT_GT(failed.configurations_size(), 0);
  EXPECT_LT(failed.configurations_size(), 500);
  EXPECT_EQ(failed.num_finished(), static_cast<std::uint32_t>(failed.configurations_size()));
  EXPECT_TRUE(failed.message().starts_with(absl::StrCat(
      "configuration ", failed.num_finished() + 1, ": no space left for the database")))
      << failed.message();
  EXPECT_EQ(failed.message().find("INSERT"), std::string::npos) << failed.message();
  EXPECT_EQ(daemon.run(compare_request("b")).state(), v1::DONE);
}

TEST(Scheduler, SaysThatAnEndWaitsForSpace) {
  Daemon daemon;
  const auto submitted = daemon.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  daemon.wait_until_running(submitted->experiment_id());
  v1::Experiment waiting;
  std::thread canceller;
  {
    const FullDisk full(0);
    canceller = std::thread([&] { (void)daemon.scheduler().cancel(submitted->experiment_id()); });
    while (waiting.message().empty()) {
      const auto update = daemon.scheduler().next_state(
          submitted->experiment_id(), 0, std::chrono::milliseconds(100));
      ASSERT_TRUE(update.ok()) << update.status();
      waiting = update->experiment;
    }
  }
  canceller.join();
  EXPECT_EQ(waiting.state(), v1::RUNNING);
  EXPECT_TRUE(waiting.message().starts_with("its end is not stored yet: no space left"))
      << waiting.message();
  EXPECT_EQ(daemon.wait_until_final(submitted->experiment_id()).state(), v1::CANCELLED);
}

TEST(Scheduler, RunsDevicesBesideEachOther) {
  Daemon daemon({device_config("cpu"), device_config("far", {"env", "X=1"})});
  const auto hanging = daemon.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  daemon.wait_until_running(hanging->experiment_id());
  auto request = compare_request("b");
  request.mutable_spec()->set_device("far");
  EXPECT_EQ(daemon.run(request).state(), v1::DONE);
  request = compare_request("c");
  request.mutable_spec()->set_device("moon");
  EXPECT_EQ(daemon.submit(request).status().message(),
            "spec.device: no device `moon`; it is one of `cpu`, `far`");
}

TEST(Scheduler, IsNotWellWithoutItsFile) {
  Daemon daemon;
  EXPECT_TRUE(daemon.scheduler().health().ok()) << daemon.scheduler().health();
  std::filesystem::remove(daemon.store().path());
  EXPECT_EQ(daemon.scheduler().health().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace assay::server
