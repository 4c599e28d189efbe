#include "tests/client/commands_fixture.h"
#include "tests/temporary_folder.h"

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

#include <thread>

namespace assay::client {
namespace {

TEST_F(Commands, BackUpOverNoDatabaseThatADaemonServes) {
  const Folder folder;
  for (const char* beside : {".lock", "-wal"}) {
    const std::string path = folder / (std::string("served") + beside + ".db");
    std::ofstream(path) << "theirs";
    std::ofstream(path + beside) << "1";
    EXPECT_NE(run_with({"backup", path, "--overwrite"}), 0);
    EXPECT_TRUE(said("is a database that a daemon serves or served")) << err();
    EXPECT_EQ(text_in(path), "theirs");
  }
}

TEST_F(Commands, RefuseWrongUsageWithStatusTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "A subcommand is required"},
      {{"frobnicate"},
       "unknown command `frobnicate`: expected one of backup, bits, calibrate, cancel, check"},
      {{"bits", "drop"}, "unknown command `drop`: expected one of accept, export, history, log"},
      {{"compare", "q", "--candidate"}, "(see `assay compare --help`)"},
      {{"compare", "q", "--launch-mode", "eager"}, "one of graph, stream"},
      {{"compare", "q", "--timing", "watch"}, "--timing: `watch`: expected one of activity"},
      {{"compare", "q", "--counters", "drm"}, "--counters: `drm`: expected dram, l2, tensor"},
      {{"compare", "q", "--counters", "dram,l3"}, "--counters: `l3`: expected dram"},
      {{"measure", "q", "--admission", "5"}, "--admission: duration `5`: expected"},
      {{"device"}, "(see `assay device --help`)"},
      {{"device", "melt"}, "unknown command `melt`: expected one of bench"},
      {{"device", "bench", "--cache", "hot"}, "--cache"},
      {{"compare", "q", "--candidate", "b", "--bogus"}, "--bogus"},
      {{"compare", "q", "--candidate", "b", "--seed", "-1"}, "--seed"},
      {{"compare", "q", "--candidate", "b", "--calls", "many"}, "--calls"},
      {{"compare", "q", "--candidate", "b:x"}, "expected VARIANT or VARIANT:PARAMETER=VALUE"},
      {{"compare", "q", "--candidate", "b", "-a", "kv=[a"}, "position 6: missing `]`"},
      {{"compare", "q", "--candidate", "b", "-a", "kv=a", "-a", "kv=b"}, "given twice"},
      {{"compare", "q", "--candidate", "b", "--schedule", "aab"}, "one of ab, abba, bab"},
      {{"compare", "q", "--candidate", "b", "--cache", "warm"}, "one of cold, hot"},
      {{"compare", "q", "--candidate", "b", "--budget", "5"}, "500ms, 2s, 5m or 30d"},
      {{"compare", "q", "--candidate", "b", "--least-effect", "0"}, "as in 1%"},
      {{"compare", "q", "--candidate", "b", "--fail-on", "faster"}, "slower or undecided"},
      {{"list", "--state", "gone"}, "one of cancelled, done, failed"},
      {{"list", "--format", "yaml"}, "one of csv, json, markdown, table"},
      {{"list", "--address", "nowhere"}, "expected unix:PATH or HOST:PORT"},
      {{"show", "first"}, "expected a number from 1, or last"},
      {{"show", "0"}, "expected a number from 1, or last"},
      {{"trace", "first"}, "expected a number from 1, or last"},
      {{"trace", "7", "--configuration", "0"}, "--configuration"},
      {{"trace", "7", "--format", "csv"}, "--format: a trace is JSON; leave it out"},
      {{"bits", "accept", "last"}, "--reason is required (see `assay bits accept --help`)"},
      {{"bits", "accept", "last", "--reason", "r", "--figure", "x"}, "expected NAME=VALUE"},
      {{"operators", "softmax"}, "NOT_FOUND: operator `softmax`: expected one of qsa_decode"},
      {{"sweep", "--count"}, "--count: needs --spec FILE"},
      {{"sweep", "--spec", "/nowhere/t1.json", "--count"},
       "NOT_FOUND: --spec: /nowhere/t1.json: No such file or directory"},
      {{"sweep", "--spec", "/", "--count"}, "NOT_FOUND: --spec: /: Is a directory"},
      {{"sweep", "--spec", "/dev/zero", "--count"}, "--spec: /dev/zero: larger than 16 MiB"},
      {{"sweep", "--spec", "/dev/null", "--count"}, "--spec: /dev/null: empty file"},
      {{"measure", "softmax"}, "NOT_FOUND: operator `softmax`: expected one of qsa_decode"},
      {{"query", "SELECT 1", "--limit", "0"}, "--limit: `0`: expected 1 or more"},
      {{"query", "SELECT '\xff'", "--limit", "1"}, "argument 2 is not UTF-8"},
      {{"list", "--operator", "\xff"}, "argument 3 is not UTF-8"},
      {{"trend", "q", "--order", "size"}, "--order: `size`: expected one of commit, time"},
      {{"--address", "nowhere", "list"}, "expected unix:PATH or HOST:PORT"},
      {{"--address", "nowhere", "lisst"}, "unknown command `lisst`: expected one of backup, bits"},
      {{"--address=nowhere", "bits", "drop"}, "unknown command `drop`: expected one of accept"},
      {{"list", "--limit", "1001"}, "--limit"},
      {{"regressions", "--limit", "1001"}, "--limit"},
      {{"bits", "history", "--limit", "1001"}, "--limit"},
      {{"trend", "qsa_decode", "--limit", "1001"}, "--limit"},
      {{"compare", "q", "--candidate", "b", "--least-effect", "1"},
       "--least-effect: effect `1`: expected"},
      {{"compare", "q", "--candidate", "b", "--interval-width", "2"},
       "--interval-width: effect `2`: expected"},
      {{"judge", "7", "--least-effect", "1"}, "--least-effect: effect `1`: expected"},
      {{"trend", "q", "--timing", "watch"}, "--timing: `watch`: expected one of activity"},
      {{"trend", "q", "--launch-mode", "eager"}, "--launch-mode: `eager`: expected one of graph"},
  };
  for (const auto& [arguments, expected] : cases) {
    EXPECT_EQ(run_with(arguments), 2) << expected;
    EXPECT_TRUE(said(expected)) << expected << " in: " << err();
    EXPECT_EQ(out(), "") << expected;
  }
  EXPECT_TRUE(service_.submitted.empty());
}

TEST_F(Commands, CountTheConfigurationsOfASpecificationWithoutADaemon) {
  server_->Shutdown();
  const Folder folder;
  const std::string path = folder / "t1.json";
  std::ofstream(path) << R"({"ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block", "Type": "int", "Values": "[32 * i for i in range(1, 101)]", "Default": 32},
      {"Name": "tile", "Type": "int", "Values": "[1, 2, 4]", "Default": 1}],
    "Conditions": [
      {"Expression": "block * tile <= 1024", "Parameters": ["block", "tile"]},
      {"Expression": "tile < 8", "Parameters": ["tile"]},
      {"Expression": "tile > 1", "Parameters": ["tile"]}]}})";
  const std::vector<std::string> command = {"sweep", "--count", "--spec", path, "--format"};
  const auto run_as = [&](const std::string& format) {
    std::vector<std::string> arguments = command;
    arguments.push_back(format);
    EXPECT_EQ(run_with(arguments), 0) << err();
    return out();
  };
  EXPECT_EQ(run_as("table"),
            path +
                ": 24 of 300 configurations are valid\n\n"
                "restriction           removes  leaves\n"
                "tile > 1                  100     200\n"
                "block * tile <= 1024      176      24\n");
  EXPECT_EQ(err(), path + ": default configuration is invalid: `tile > 1` does not hold\n");
  EXPECT_EQ(run_as("csv"),
            "step,expression,num_removed,num_left\n"
            "combinations,,0,300\n"
            "restriction,tile > 1,100,200\n"
            "restriction,block * tile <= 1024,176,24\n"
            "valid,,0,24\n");
  google::protobuf::Struct json;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(run_as("json"), &json).ok()) << out();
  EXPECT_EQ(json.fields().at("num_valid").string_value(), "24");
  EXPECT_EQ(json.fields().at("num_combinations").string_value(), "300");
  EXPECT_EQ(json.fields().at("restrictions").list_value().values_size(), 2);
  EXPECT_EQ(json.fields().at("warnings").list_value().values_size(), 1);
}

TEST_F(Commands, PrintTheDaemonsErrorsWithTheirCode) {
  service_.next_status = {grpc::StatusCode::NOT_FOUND, "spec.candidates[0].variant: unknown"};
  const std::vector<std::string> compare = {
      "compare", "qsa_decode", "--baseline", "one_cell", "--candidate", "x", "--device", "cpu"};
  EXPECT_EQ(run_with(compare), 2);
  EXPECT_EQ(err(), "assay: NOT_FOUND: spec.candidates[0].variant: unknown\n");
  service_.next_status = {grpc::StatusCode::FAILED_PRECONDITION, "no runner"};
  EXPECT_EQ(run_with(compare), 1);
  EXPECT_EQ(err(), "assay: FAILED_PRECONDITION: no runner\n");
}

TEST_F(Commands, SayHowToStartADaemonWhereNoneAnswers) {
  EXPECT_EQ(run_with({"devices", "--address", "unix:/nowhere/assay.sock"}), 1);
  EXPECT_TRUE(said("assay: UNAVAILABLE: no daemon answers at unix:/nowhere/assay.sock")) << err();
  EXPECT_TRUE(said("assayd --db FILE")) << err();
}

TEST_F(Commands, LeaveTheExperimentRunningOnInterrupt) {
  service_.watch_hangs = true;
  std::thread hand([this] {
    service_.is_watched.wait(false);
    // The stream may have begun before the client armed itself.
    while (!interrupter_.fire()) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(run_with({"watch", "7"}), 1);
  hand.join();
  EXPECT_TRUE(said("`assay watch 7` follows it, `assay cancel 7` ends it")) << err();
  EXPECT_FALSE(interrupter_.fire());
}

TEST_F(Commands, SubmitWhatWasTyped) {
  const int status = run_with({"compare",
                               "qsa_decode",
                               "--baseline",
                               "one_cell",
                               "--candidate",
                               "two_cell:threads=2",
                               "--candidate",
                               "lane_cell",
                               "-a",
                               "kv=[fp16,int8]",
                               "-a",
                               "n_q=[1:2]",
                               "--workload",
                               "Q1",
                               "--schedule",
                               "abba",
                               "--cache",
                               "cold",
                               "--launch-mode",
                               "graph",
                               "--calls",
                               "7",
                               "--rounds",
                               "24",
                               "--least-effect",
                               "2%",
                               "--budget",
                               "60s",
                               "--deadline",
                               "5m",
                               "--timing",
                               "events",
                               "--counters",
                               "dram,tensor",
                               "--counters",
                               "sm__cycles_active.avg",
                               "--counters",
                               "dram",
                               "--admission",
                               "10s",
                               "--seed",
                               "9",
                               "--label",
                               "mine",
                               "--request-id",
                               "r1"});
  EXPECT_EQ(status, 3) << err();
  ASSERT_EQ(service_.submitted.size(), 1U);
  const v1::SubmitRequest& request = service_.submitted[0];
  const v1::ExperimentSpec& spec = request.spec();
  EXPECT_EQ(request.request_id(), "r1");
  EXPECT_EQ(spec.kind(), v1::COMPARE);
  EXPECT_EQ(spec.device(), "cpu");
  EXPECT_EQ(spec.baseline().variant(), "one_cell");
  ASSERT_EQ(spec.candidates_size(), 2);
  EXPECT_EQ(spec.candidates(0).parameters(0).value(), "2");
  ASSERT_EQ(spec.axes_size(), 2);
  EXPECT_EQ(spec.axes(1).values_size(), 2);
  EXPECT_EQ(spec.workloads(0), "Q1");
  EXPECT_EQ(spec.schedule(), v1::ABBA);
  EXPECT_EQ(spec.cache_mode(), v1::COLD);
  EXPECT_EQ(spec.launch_mode(), v1::GRAPH);
  EXPECT_EQ(spec.num_calls(), 7U);
  EXPECT_EQ(spec.max_rounds(), 24U);
  EXPECT_DOUBLE_EQ(spec.least_effect(), 0.02);
  EXPECT_EQ(spec.budget_ns(), 60'000'000'000);
  EXPECT_EQ(spec.deadline_ns(), 300'000'000'000);
  EXPECT_EQ(spec.timing_source(), v1::CUDA_EVENTS);
  ASSERT_EQ(spec.counters_size(), 3);
  EXPECT_EQ(spec.counters(0), "dram");
  EXPECT_EQ(spec.counters(1), "tensor");
  EXPECT_EQ(spec.counters(2), "sm__cycles_active.avg");
  EXPECT_EQ(spec.admission_ns(), 10'000'000'000);
  EXPECT_EQ(spec.seed(), 9U);
  EXPECT_EQ(spec.label(), "mine");
  EXPECT_FALSE(spec.has_context());
}

TEST_F(Commands, SayWhichCodeIsMeasuredAndWhatItIsPartOf) {
  service_.result = made_up_comparison();
  ASSERT_EQ(run_with({"measure",
                      "qsa_decode",
                      "--commit=2E52F37",
                      "--branch=main",
                      "--label",
                      "pr=12=3",
                      "--label",
                      "free text",
                      "--label",
                      "nightly=",
                      "--note",
                      "after the new driver",
                      "--detach"}),
            0)
      << err();
  const v1::ExperimentSpec& spec = service_.submitted[0].spec();
  EXPECT_EQ(spec.label(), "free text");
  v1::Context expected;
  expected.set_commit("2e52f37");
  expected.set_branch("main");
  expected.set_note("after the new driver");
  v1::Setting& pull_request = *expected.add_labels();
  pull_request.set_name("pr");
  pull_request.set_value("12=3");
  expected.add_labels()->set_name("nightly");
  EXPECT_EQ(spec.context().DebugString(), expected.DebugString());

  EXPECT_EQ(run_with({"check", "qsa_decode", "--label", "one", "--label", "two"}), 2);
  EXPECT_TRUE(said("--label: `two`: one free text is kept, and there is `one`")) << err();
  EXPECT_EQ(run_with({"sweep", "qsa_decode", "--label", "=x"}), 2);
  EXPECT_TRUE(said("--label: `=x`: expected NAME=VALUE or a free text")) << err();
  EXPECT_EQ(run_with({"device", "bench", "--commit", "main"}), 2);
  EXPECT_TRUE(said("--commit: `main`: expected 7 to 64 hexadecimal digits")) << err();
  EXPECT_EQ(service_.submitted.size(), 1U);
}

TEST_F(Commands, TakeTheFirstVariantAsBaselineAndARandomRequestId) {
  EXPECT_EQ(run_with({"compare", "qsa_decode", "--candidate", "two_cell", "--detach"}), 0) << err();
  EXPECT_EQ(out(), "experiment 7: queued, position 1\n");
  EXPECT_EQ(run_with({"measure", "qsa_decode", "--detach"}), 0) << err();
  ASSERT_EQ(service_.submitted.size(), 2U);
  EXPECT_EQ(service_.submitted[0].spec().baseline().variant(), "one_cell");
  EXPECT_EQ(service_.submitted[1].spec().kind(), v1::MEASURE);
  EXPECT_NE(service_.submitted[0].request_id(), service_.submitted[1].request_id());
}

TEST_F(Commands, CompareABaselineWithItselfWhereNoCandidateIsNamed) {
  EXPECT_EQ(run_with({"compare", "qsa_decode", "--baseline", "two_cell:threads=2", "--detach"}), 0)
      << err();
  ASSERT_EQ(service_.submitted.size(), 1U);
  const v1::ExperimentSpec& spec = service_.submitted[0].spec();
  ASSERT_EQ(spec.candidates_size(), 1);
  EXPECT_EQ(spec.candidates(0).SerializeAsString(), spec.baseline().SerializeAsString());
  EXPECT_EQ(spec.launch_mode(), v1::LAUNCH_MODE_UNSPECIFIED);
}

TEST_F(Commands, FollowACheckAndEndWithItsLines) {
  service_.result = made_up_check();
  EXPECT_EQ(run_with({"check", "qsa_decode", "--suite", "all"}), 0) << err();
  EXPECT_EQ(service_.submitted[0].spec().suite(), "all");
  EXPECT_TRUE(out().ends_with("mutants: 2 of 2 rejected\ngoldens: 1,168 of 1,168 reproduced\n"));
  EXPECT_TRUE(err().starts_with("experiment 7: running, 0 of 4 configurations\n")) << err();
}

TEST_F(Commands, CountVerdictsOnlyWithFailOn) {
  service_.result.mutable_configurations()->RemoveLast();
  service_.result.mutable_configurations(0)->mutable_verdicts(0)->set_verdict(v1::UNDECIDED);
  service_.result.set_num_finished(1);
  EXPECT_EQ(run_with({"watch"}), 1) << "one of two configurations is missing";
  service_.result.set_num_configurations(1);
  EXPECT_EQ(run_with({"watch"}), 0) << err();
  EXPECT_EQ(run_with({"watch", "--fail-on", "slower,undecided"}), 5) << err();
}

TEST_F(Commands, CalibrateOneOperatorOrAllOfThem) {
  // A row of the made-up result is rejected.
  EXPECT_EQ(run_with({"calibrate", "qsa_decode", "--workload", "q2"}), 3) << err();
  ASSERT_EQ(service_.submitted.size(), 1U);
  EXPECT_EQ(service_.submitted[0].spec().kind(), v1::CALIBRATE);
  EXPECT_EQ(service_.submitted[0].spec().baseline().variant(), "one_cell");
  EXPECT_TRUE(service_.submitted[0].spec().candidates().empty());
  EXPECT_EQ(service_.submitted[0].spec().workloads(0), "q2");
  service_.operator_list.add_operators()->set_name("not_here");
  v1::OperatorInfo& other = *service_.operator_list.add_operators();
  other.set_name("other");
  other.add_variants()->set_name("first");
  EXPECT_EQ(run_with({"calibrate"}), 3) << err();
  ASSERT_EQ(service_.submitted.size(), 3U);
  EXPECT_EQ(service_.submitted[1].spec().operator_name(), "qsa_decode");
  EXPECT_EQ(service_.submitted[2].spec().operator_name(), "other");
  EXPECT_EQ(service_.submitted[2].spec().device(), "cpu");
  EXPECT_EQ(run_with({"calibrate", "--request-id", "x"}), 2);
}

TEST_F(Commands, AcceptLogAndExportBits) {
  EXPECT_EQ(run_with({"bits", "accept", "7", "--reason", "why", "--figure", "mean_kl=0.1"}), 0);
  EXPECT_EQ(service_.accepted.experiment_id(), 7);
  EXPECT_EQ(service_.accepted.figures(0).name(), "mean_kl");
  EXPECT_EQ(out(), "epoch 3: 0 digests changed, 4 unchanged\n");
  EXPECT_EQ(run_with({"bits", "log"}), 0);
  EXPECT_TRUE(service_.goldens_asked.back().include_replaced());
  EXPECT_TRUE(said("a shorter sum")) << out();
  EXPECT_EQ(run_with({"bits", "export"}), 0) << err();
  EXPECT_EQ(out(),
            "# assay goldens 1\n"
            "qsa_decode\tparity/fp16/1\tall\tbaseline\tany_device\t"
            "0123456789abcdef0123456789abcdef\n"
            "qsa_decode\tparity/int8/1\tall\tbaseline\tany_device\t"
            "0123456789abcdef0123456789abcdef\n");
}

TEST_F(Commands, TeachEveryCommandWithAnExample) {
  for (const std::string name : {"compare",
                                 "measure",
                                 "calibrate",
                                 "check",
                                 "sweep",
                                 "watch",
                                 "show",
                                 "judge",
                                 "trace",
                                 "list",
                                 "cancel",
                                 "devices",
                                 "operators"}) {
    EXPECT_EQ(run_with({name, "--help"}), 0);
    EXPECT_TRUE(said("Examples:\n  assay " + name)) << out();
  }
  EXPECT_EQ(run_with({"bits", "accept", "--help"}), 0);
  EXPECT_TRUE(said("Examples:\n  assay bits accept")) << out();
  for (const std::string name : {"lookup", "list", "export"}) {
    EXPECT_EQ(run_with({"tuning", name, "--help"}), 0);
    EXPECT_TRUE(said("Examples:\n  assay tuning " + name)) << out();
  }
  EXPECT_EQ(run_with({"device", "bench", "--help"}), 0);
  EXPECT_TRUE(said("Examples:\n  assay device bench")) << out();
  EXPECT_EQ(run_with({"--version"}), 0);
  EXPECT_EQ(out(), "1.2.3\n");
}

}  // namespace
}  // namespace assay::client
