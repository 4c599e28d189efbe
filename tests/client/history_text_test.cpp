#include "client/history_text.h"

#include "tests/client/fixtures.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

TEST(History, ShowsExperimentsToPeopleAndRawToPrograms) {
  v1::ListResponse response;
  v1::Experiment& experiment = *response.add_experiments();
  experiment = made_up_comparison();
  experiment.set_submitted_ns(1'769'860'805'000'000'000);
  experiment.set_worst_verdict(v1::REJECTED);
  experiment.mutable_spec()->set_label("a, b\033[31m");
  v1::Context& context = *experiment.mutable_spec()->mutable_context();
  context.set_commit("2e52f37aa3d1f00d");
  context.set_dirty(true);
  context.set_branch("main");
  context.add_labels()->set_name("nightly");
  v1::Setting& label = *context.add_labels();
  label.set_name("pr");
  label.set_value("7");
  EXPECT_EQ(experiments_text(response, Format::kTable),
            "id  state  kind     operator    device  finished  worst verdict  submitted (UTC)"
            "      commit     labels\n"
            " 7  done   compare  qsa_decode  cpu          2/2  rejected       2026-01-31 12:00:05"
            "  2e52f37a+  a, b [31m, nightly, pr=7\n");
  EXPECT_NE(experiments_text(response, Format::kCsv)
                .find("\n7,DONE,COMPARE,qsa_decode,cpu,2,2,REJECTED,1769860805000000000,0,0,"),
            std::string::npos);
  EXPECT_TRUE(experiments_text(response, Format::kCsv)
                  .ends_with(",2e52f37aa3d1f00d,true,main,\"nightly, pr=7\",\n"))
      << experiments_text(response, Format::kCsv);
}

TEST(History, ShowsOfASweepsVerdictsOnlyARejection) {
  v1::ListResponse response;
  v1::Experiment& experiment = *response.add_experiments();
  experiment = made_up_comparison();
  experiment.mutable_spec()->set_kind(v1::SWEEP);
  experiment.set_worst_verdict(v1::UNDECIDED);
  EXPECT_EQ(experiments_text(response, Format::kTable).find("undecided"), std::string::npos);
  experiment.set_worst_verdict(v1::REJECTED);
  EXPECT_NE(experiments_text(response, Format::kTable).find(" rejected "), std::string::npos);
}

TEST(History, ShowsABenchAmongExperiments) {
  v1::ListResponse response;
  *response.add_experiments() = made_up_bench();
  EXPECT_NE(
      experiments_text(response, Format::kTable).find("done   bench  -         cpu          1/1"),
      std::string::npos)
      << experiments_text(response, Format::kTable);
}

TEST(History, ShowsWhatAnEpochChanged) {
  v1::AcceptBitsResponse response;
  response.set_epoch(3);
  v1::Golden& golden = *response.add_goldens();
  golden.set_epoch(3);
  golden.set_workload("kv=int8,seed=0");
  golden.set_digest("0123456789abcdef0123456789abcdef");
  golden.set_replaced_digest("fedcba9876543210fedcba9876543210");
  golden.set_reason("a shorter sum");
  const std::string text = accepted_text(response, Format::kTable);
  EXPECT_NE(text.find("01234567  fedcba98"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\n\nepoch 3: 1 digest changed, 0 unchanged\n")) << text;
  EXPECT_NE(accepted_text(response, Format::kCsv).find(golden.digest()), std::string::npos);
}

TEST(History, SaysOnceWhatTheAcceptedWorkloadsOfAnOperatorShare) {
  v1::ListGoldensResponse response;
  for (const auto& [name, workload] : {std::pair("qsa_decode", "kv=int8,width=64,seed=0"),
                                       std::pair("other", "n=1"),
                                       std::pair("qsa_decode", "kv=int8,width=128,seed=0"),
                                       std::pair("qsa_decode", "parity/int8/1")}) {
    v1::Golden& golden = *response.add_goldens();
    golden.set_operator_name(name);
    golden.set_workload(workload);
    golden.set_digest("0123456789abcdef0123456789abcdef");
    golden.set_tensor("out");
  }
  const std::string text = goldens_text(response, Format::kTable);
  EXPECT_TRUE(
      text.starts_with("operator  qsa_decode\n"
                       "workload  kv=int8, seed=0\n"
                       "\n"
                       "epoch  workload       accepted"))
      << text;
  EXPECT_NE(text.find("  width=128      "), std::string::npos) << text;
  EXPECT_NE(text.find("  parity/int8/1  "), std::string::npos) << text;
  EXPECT_NE(text.find("\n\noperator  other\nworkload  n=1\n\nepoch  accepted"), std::string::npos)
      << text;
  EXPECT_TRUE(goldens_text(response, Format::kCsv)
                  .starts_with("epoch,accepted,experiment,operator,workload,tensor,"));
}

}  // namespace
}  // namespace assay::client
