#include "server/receipt_markdown.h"

#include "tests/server/receipt_fixtures.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace assay::server {
namespace {

std::string text_in(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string markdown_of(const v1::Experiment& experiment) {
  v1::Receipt receipt;
  *receipt.add_experiments() = receipt_experiment(experiment);
  return receipt_markdown(receipt);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The digest in it pins the message to the bit, too.
TEST(ReceiptMarkdown, IsTheSameTextEverywhere) {
  EXPECT_EQ(receipt_markdown(made_up_receipt()), text_in(ASSAY_RECEIPT));
}

TEST(ReceiptMarkdown, ShowsTheFirstElementThatDiffersAsBits) {
  EXPECT_TRUE(has(markdown_of(client::made_up_comparison()),
                  "- 2: the bits differ from the baseline's; 1,024 of 12,288 elements of \\`out\\` "
                  "differ (ulp sized, at most 3 ulp), first at out\\[0, 3, 17\\]: expected "
                  "0x3f800000 (1), found 0x3f800001 (1.0000001)\n"));
}

TEST(ReceiptMarkdown, LetsNoNameBecomeMarkup) {
  const std::string hostile =
      "x|`**<img src=x onerror=y>**`|@all\n## Not a heading\n- request: `0`";
  v1::Experiment experiment = client::made_up_comparison();
  experiment.mutable_spec()->set_operator_name(hostile);
  experiment.mutable_spec()->set_label(hostile);
  experiment.mutable_device()->set_model(hostile);
  v1::Context& context = *experiment.mutable_spec()->mutable_context();
  context.set_commit(hostile);
  context.set_branch(hostile);
  context.add_labels()->set_name(hostile);
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.set_message(hostile);
  configuration.mutable_candidate()->mutable_arm()->set_variant(hostile);
  configuration.mutable_candidate()->mutable_bits()->set_tolerance_place(hostile);
  configuration.mutable_verdicts(0)->set_golden(hostile);
  configuration.mutable_verdicts(0)->mutable_stages(0)->set_stage(hostile);
  configuration.mutable_verdicts(0)->set_verdict(v1::UNDECIDED);
  configuration.mutable_verdicts(0)->set_reason(hostile);
  configuration.mutable_baseline()->mutable_outputs(0)->set_tensor(hostile);
  const std::string text = markdown_of(experiment);
  for (const char* markup : {"<img", "\n## Not", "\n- request: `0`", "**<", "x|`"}) {
    EXPECT_FALSE(has(text, markup)) << markup << "\n" << text;
  }
  EXPECT_TRUE(has(text, "&#60;img src&#61;x")) << text;
}

TEST(ReceiptMarkdown, ShowsNoTimeOfARejectedRow) {
  v1::Experiment experiment = client::made_up_comparison();
  v1::Verdict& rejected = *experiment.mutable_configurations(1)->mutable_verdicts(0);
  *rejected.mutable_stages() = experiment.configurations(0).verdicts(0).stages();
  EXPECT_TRUE(has(markdown_of(experiment),
                  "| 2 | `n_q=2` | - | - | - | - | - | - | - | - | **rejected** |"))
      << markdown_of(experiment);
}

TEST(ReceiptMarkdown, CallsNoBitsUnequalBeforeTheirVerdict) {
  v1::Experiment experiment = client::made_up_comparison();
  experiment.mutable_configurations(0)->clear_verdicts();
  const std::string one = markdown_of(experiment);
  EXPECT_TRUE(has(one, "2 configurations, bits equal in 0 of 1, 1 without a verdict then.")) << one;
  EXPECT_TRUE(has(one, "| 1 | `n_q=1` | none then |")) << one;
  experiment.mutable_configurations()->RemoveLast();
  const std::string none = markdown_of(experiment);
  EXPECT_TRUE(has(none, "1 configuration, 1 without a verdict then.")) << none;
  EXPECT_FALSE(has(none, "equal")) << none;
}

TEST(ReceiptMarkdown, StatesMediansAndQuartilesOfAMeasure) {
  v1::Experiment experiment = client::made_up_comparison();
  experiment.mutable_spec()->set_kind(v1::MEASURE);
  experiment.mutable_configurations()->RemoveLast();
  v1::Configuration& configuration = *experiment.mutable_configurations(0);
  configuration.clear_candidate();
  configuration.clear_candidate_arm();
  configuration.mutable_verdicts(0)->set_verdict(v1::NOT_JUDGED);
  for (v1::StageVerdict& stage : *configuration.mutable_verdicts(0)->mutable_stages()) {
    stage.set_has_ratio(false);
    stage.set_baseline_lower_quartile_ns(1'000'000);
    stage.set_baseline_upper_quartile_ns(2'000'000);
  }
  const std::string text = markdown_of(experiment);
  EXPECT_TRUE(
      has(text, "| 1 | 1,234 | 1,000 to 2,000 | 1,234 | 1,000 to 2,000 | 50 % | measured |"))
      << text;
}

TEST(ReceiptMarkdown, ShowsWhatDidNotFinish) {
  v1::Experiment experiment = client::made_up_comparison();
  experiment.set_state(v1::FAILED);
  experiment.set_message("the runner does not start");
  experiment.mutable_configurations(1)->set_outcome(v1::TIMED_OUT);
  experiment.mutable_configurations(1)->clear_verdicts();
  const std::string text = markdown_of(experiment);
  EXPECT_TRUE(
      has(text, "- state: **failed**, 2 of 2 configurations: `the runner does not start`\n"));
  EXPECT_TRUE(has(text, "2 configurations: 1 faster, 1 timed out."));
  EXPECT_TRUE(has(text, "| **timed out** |"));
}

}  // namespace
}  // namespace assay::server
