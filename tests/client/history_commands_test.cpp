#include "tests/client/commands_fixture.h"
#include "tests/temporary_folder.h"

namespace assay::client {
namespace {

using HistoryCommands = Commands;

TEST_F(HistoryCommands, BenchADeviceAndShowItsCeilings) {
  service_.result = made_up_bench();
  EXPECT_EQ(run_with({"device", "bench", "--label", "new driver"}), 0) << err();
  ASSERT_EQ(service_.submitted.size(), 1U);
  v1::ExperimentSpec expected;
  expected.set_kind(v1::BENCH);
  expected.set_device("cpu");
  expected.set_label("new driver");
  EXPECT_EQ(service_.submitted[0].spec().SerializeAsString(), expected.SerializeAsString());
  EXPECT_TRUE(said("read              4.62 TB/s  reading memory\n")) << out();
  const std::string followed = out();
  EXPECT_EQ(run_with({"watch", "7"}), 0) << err();
  EXPECT_EQ(out(), followed);
  EXPECT_EQ(run_with({"show", "7", "--samples"}), 0) << err();
  EXPECT_EQ(out(), followed);
  EXPECT_EQ(run_with({"show", "7", "--explain"}), 2);
  EXPECT_TRUE(said("--explain: a BENCH times no arms; leave it out")) << err();
  EXPECT_EQ(run_with({"device", "bench", "--detach", "--device", "gpu"}), 0) << err();
  EXPECT_EQ(out(), "experiment 7: queued, position 1\n");
  EXPECT_EQ(service_.submitted[1].spec().device(), "gpu");
}

TEST_F(HistoryCommands, ShowSamplesConfigurationByConfiguration) {
  EXPECT_EQ(run_with({"show", "7", "--samples", "--format", "csv"}), 0) << err();
  ASSERT_EQ(service_.asked.size(), 3U);
  EXPECT_FALSE(service_.asked[0].include_samples());
  EXPECT_EQ(service_.asked[2].configuration(), 2U);
  EXPECT_TRUE(service_.asked[2].include_samples());
}

TEST_F(HistoryCommands, ShowAnExperimentThatDoesNotFitIntoOneMessage) {
  ASSERT_EQ(run_with({"show"}), 0);
  const std::string whole = out();
  service_.whole_is_too_large = true;
  EXPECT_EQ(run_with({"show"}), 0) << err();
  EXPECT_EQ(out(), whole);
}

TEST_F(HistoryCommands, ListPagesAndCancel) {
  EXPECT_EQ(run_with({"list", "--limit", "1", "--state", "done", "--operator", "qsa_decode"}), 0);
  EXPECT_EQ(service_.listed.state(), v1::DONE);
  EXPECT_EQ(service_.listed.page_size(), 1U);
  EXPECT_TRUE(said("done   compare  qsa_decode  cpu")) << out();
  EXPECT_EQ(err(), "older ones: the same with --page older\n");
  EXPECT_EQ(run_with({"cancel", "7"}), 0);
  EXPECT_EQ(out(), "experiment 7: cancelled, 2 of 2 configurations\n");
}

TEST_F(HistoryCommands, ListByEveryFilter) {
  EXPECT_EQ(run_with({"list",
                      "--variant=two_cell",
                      "--kind=compare",
                      "--verdict=not-judged",
                      "--commit=2e52f37",
                      "--branch=main",
                      "--label",
                      "pr=12=3",
                      "--label",
                      "nightly",
                      "--since=1970-01-02",
                      "--until=1970-01-03T00:00:00.5Z",
                      "--only-changes"}),
            0)
      << err();
  v1::ListRequest expected;
  expected.set_page_size(50);
  expected.set_variant("two_cell");
  expected.set_kind(v1::COMPARE);
  expected.set_verdict(v1::NOT_JUDGED);
  expected.set_commit("2e52f37");
  expected.set_branch("main");
  v1::Setting& pull_request = *expected.add_labels();
  pull_request.set_name("pr");
  pull_request.set_value("12=3");
  expected.add_labels()->set_name("nightly");
  expected.set_submitted_after_ns(86'400'000'000'000);
  expected.set_submitted_before_ns(172'800'500'000'000);
  expected.set_only_changes(true);
  EXPECT_EQ(service_.listed.DebugString(), expected.DebugString());
}

TEST_F(HistoryCommands, ListRefusesFiltersThatAreNone) {
  EXPECT_EQ(run_with({"list", "--verdict", "worse"}), 2);
  EXPECT_TRUE(
      said("--verdict: `worse`: expected one of faster, not-judged, rejected, same, "
           "slower, undecided"))
      << err();
  EXPECT_EQ(run_with({"list", "--kind", "experiment-kind-unspecified"}), 2);
  EXPECT_TRUE(said("expected one of bench, calibrate, check, compare, measure, sweep")) << err();
  EXPECT_EQ(run_with({"list", "--state", "ended"}), 2);
  EXPECT_TRUE(said("expected one of cancelled, done, failed, interrupted, queued, running"))
      << err();
  EXPECT_EQ(run_with({"list", "--since", "yesterday"}), 2);
  EXPECT_TRUE(said("--since: moment `yesterday`: expected a date")) << err();
}

TEST_F(HistoryCommands, JudgeAgainAndExplain) {
  EXPECT_EQ(run_with({"judge", "7", "--least-effect", "0.5%"}), 0) << err();
  EXPECT_EQ(service_.judged.experiment_id(), 7);
  EXPECT_NEAR(service_.judged.least_effect(), 0.005, 1e-12);
  EXPECT_EQ(err(), "2 verdicts made again; added, as otherwise than the newest before: 1\n");
  EXPECT_TRUE(said("experiment  7\n")) << out();
  EXPECT_EQ(run_with({"show", "7", "--explain"}), 0) << err();
  EXPECT_TRUE(said("has to lie beyond")) << out();
  service_.result = made_up_check();
  EXPECT_EQ(run_with({"show", "7", "--explain"}), 2);
  EXPECT_TRUE(said("--explain: a CHECK times no arms; leave it out")) << err();
}

TEST_F(HistoryCommands, ShowCountersAndRooflineByThemselves) {
  service_.result = made_up_profile();
  EXPECT_EQ(run_with({"show", "7", "--counters"}), 0) << err();
  EXPECT_TRUE(said("DRAM rate")) << out();
  EXPECT_FALSE(said("bounded by")) << out();
  EXPECT_EQ(run_with({"show", "7", "--roofline", "--format", "csv"}), 0) << err();
  EXPECT_TRUE(said("attainable_flops_per_second")) << out();
  EXPECT_EQ(run_with({"show", "7"}), 0) << err();
  EXPECT_TRUE(said("DRAM rate") && said("bounded by")) << out();
  EXPECT_EQ(run_with({"show", "7", "--roofline", "--explain"}), 2);
  EXPECT_TRUE(said("--explain excludes --roofline")) << err();
  service_.result = made_up_check();
  EXPECT_EQ(run_with({"show", "7", "--roofline"}), 2);
  EXPECT_TRUE(said("--roofline: a CHECK times no arms; leave it out")) << err();
}

TEST_F(HistoryCommands, TraceToStandardOutputOrToANewFile) {
  const Folder folder;
  const std::string path = folder / "trace.json";
  EXPECT_EQ(run_with({"trace", "7"}), 0) << err();
  const std::string trace = out();
  EXPECT_TRUE(trace.starts_with("{\"displayTimeUnit\":\"ns\"")) << trace;
  EXPECT_EQ(run_with({"trace", "7", "--output", path}), 0) << err();
  EXPECT_EQ(out(), "");
  EXPECT_TRUE(said("trace.json: 2 configurations; open it in ui.perfetto.dev")) << err();
  EXPECT_EQ(text_in(path), trace);
  EXPECT_EQ(run_with({"trace", "7", "--configuration", "1", "--output", path}), 1);
  EXPECT_TRUE(said("is there already; name another file or add --overwrite")) << err();
  EXPECT_EQ(text_in(path), trace);
  EXPECT_EQ(run_with({"trace", "7", "--configuration", "1", "--output", path, "--overwrite"}), 0);
  EXPECT_EQ(service_.asked.back().configuration(), 1U);
  EXPECT_LT(text_in(path).size(), trace.size());
  EXPECT_EQ(run_with({"trace", "7", "--output", folder / "none/t.json"}), 1);
  EXPECT_TRUE(said("--output: ")) << err();
}

TEST_F(HistoryCommands, TraceNothingWhereNothingWasTimed) {
  EXPECT_EQ(run_with({"trace", "7", "--configuration", "9"}), 2);
  EXPECT_TRUE(said("NOT_FOUND: --configuration: configuration: ")) << err();
  service_.result = made_up_bench();
  EXPECT_EQ(run_with({"trace", "last"}), 1);
  EXPECT_TRUE(said("experiment 7 (bench) has no timed blocks")) << err();
  EXPECT_EQ(out(), "");
}

}  // namespace
}  // namespace assay::client
