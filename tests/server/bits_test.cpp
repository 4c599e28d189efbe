#include "server/bits.h"

#include "tests/server/fixture.h"

namespace assay::server {
namespace {

v1::Experiment done_with(v1::BitsCheck failed, const std::string& family, double tolerance_used) {
  v1::Experiment experiment;
  experiment.set_experiment_id(3);
  experiment.set_state(v1::DONE);
  experiment.mutable_device()->set_backend("cpu");
  v1::Configuration& configuration = *experiment.add_configurations();
  configuration.set_outcome(v1::FINISHED);
  v1::Measurement& measurement = *configuration.mutable_baseline();
  measurement.mutable_arm()->set_variant("base");
  measurement.set_family(family);
  measurement.mutable_bits()->set_failed(failed);
  measurement.mutable_bits()->set_tolerance_known(true);
  measurement.mutable_bits()->set_tolerance_used(tolerance_used);
  measurement.add_outputs()->set_tensor("out");
  measurement.mutable_outputs(0)->set_digest(std::string(32, 'a'));
  return experiment;
}

v1::OperatorInfo info() {
  v1::OperatorInfo info;
  info.set_name("fake");
  info.set_bits_domain("any_device");
  return info;
}

TEST(Bits, NeedsAReason) {
  EXPECT_EQ(check_accept({}).message(), "reason: must be 1 to 1,000 bytes");
  v1::AcceptBitsRequest request;
  request.set_reason("because");
  request.add_figures()->set_name("mean_kl");
  EXPECT_EQ(check_accept(request).message(), "figures[0]: must have a name and a value");
  request.mutable_figures(0)->set_value(std::string(201, '9'));
  EXPECT_EQ(check_accept(request).message(),
            "figures[0]: name and value must have at most 200 bytes each");
  while (request.figures_size() < 33) {
    request.add_figures();
  }
  EXPECT_EQ(check_accept(request).message(), "figures: must be at most 32, there are 33");
}

TEST(Bits, RefusesAnExperimentThatIsNotDone) {
  v1::Experiment experiment = done_with(v1::BITS_CHECK_UNSPECIFIED, "baseline", 0.5);
  experiment.set_state(v1::CANCELLED);
  EXPECT_EQ(acceptable_bits(experiment, info(), "").status().message(),
            "experiment 3 is cancelled, not done");
}

TEST(Bits, RefusesAnArmThatFailedItsOwnChecks) {
  for (const v1::BitsCheck failed : {v1::BITS_WRITTEN,
                                     v1::BITS_INPUTS,
                                     v1::BITS_REPEATABLE,
                                     v1::BITS_EQUAL,
                                     v1::BITS_TOLERANCE,
                                     v1::BITS_TIMED_LAUNCH}) {
    EXPECT_EQ(acceptable_bits(done_with(failed, "baseline", 0.5), info(), "").status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  // Past its tolerance, whatever came first.
  EXPECT_FALSE(acceptable_bits(done_with(v1::BITS_GOLDEN, "baseline", 1.5), info(), "").ok());
  EXPECT_FALSE(acceptable_bits(done_with(v1::BITS_EQUAL, "other", 1.5), info(), "").ok());
}

TEST(Bits, RefusesTwoDigestsForOneKey) {
  v1::Experiment experiment = done_with(v1::BITS_CHECK_UNSPECIFIED, "baseline", 0.5);
  *experiment.mutable_configurations(0)->mutable_candidate() =
      experiment.configurations(0).baseline();
  experiment.mutable_configurations(0)->mutable_candidate()->mutable_outputs(0)->set_digest(
      std::string(32, 'b'));
  EXPECT_EQ(acceptable_bits(experiment, info(), "").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(acceptable_bits(experiment, info(), "nope").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(Bits, TakesWhatDiffersFromItsGoldenAndOtherFamilies) {
  EXPECT_TRUE(acceptable_bits(done_with(v1::BITS_GOLDEN, "baseline", 0.5), info(), "").ok());
  const auto other = acceptable_bits(done_with(v1::BITS_EQUAL, "other", 0.5), info(), "base");
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->front().domain(), "cpu");
}

TEST(Bits, KeepsTheDomainsOfVariantsApart) {
  v1::Experiment experiment = done_with(v1::BITS_CHECK_UNSPECIFIED, "baseline", 0.5);
  v1::Measurement& model = *experiment.mutable_configurations(0)->mutable_candidate();
  model = experiment.configurations(0).baseline();
  model.mutable_arm()->set_variant("model");
  model.mutable_outputs(0)->set_digest(std::string(32, 'b'));
  v1::OperatorInfo described = info();
  for (const char* name : {"base", "model"}) {
    v1::VariantInfo& variant = *described.add_variants();
    variant.set_name(name);
    variant.set_family("baseline");
    variant.set_bits_domain(variant.name() == "base" ? "any_device" : "sm_90");
  }
  const auto goldens = acceptable_bits(experiment, described, "");
  ASSERT_TRUE(goldens.ok()) << goldens.status();
  ASSERT_EQ(goldens->size(), 2U);
  EXPECT_EQ(goldens->front().domain(), "any_device");
  EXPECT_EQ(goldens->back().domain(), "sm_90");
}

TEST(Bits, MakesOneEpochOfWhatChanged) {
  Daemon daemon;
  const v1::Experiment experiment = daemon.run(compare_request("a"));
  v1::AcceptBitsRequest request;
  request.set_experiment_id(experiment.experiment_id());
  request.set_reason("first");
  const auto accepted = daemon.scheduler().accept_bits(request, Daemon::deadline());
  ASSERT_TRUE(accepted.ok()) << accepted.status();
  ASSERT_EQ(accepted->goldens_size(), 1);
  EXPECT_EQ(accepted->goldens(0).digest(), std::string(32, 'a'));
  EXPECT_EQ(accepted->goldens(0).reason(), "first");
  EXPECT_GT(accepted->epoch(), 0);
  const auto again = daemon.scheduler().accept_bits(request, Daemon::deadline());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->goldens_size(), 0);
  EXPECT_EQ(again->num_unchanged(), 1U);
  EXPECT_EQ(daemon.run(compare_request("b")).configurations(0).verdicts(0).golden(), "reproduced");
}

// What a file of `epoch` holds for the next daemon.
std::vector<v1::Golden> exported(Daemon& daemon) {
  const auto page = daemon.goldens().list({});
  EXPECT_TRUE(page.ok()) << page.status();
  return {page->goldens().begin(), page->goldens().end()};
}

TEST(Bits, OfACheckAreReproducedByTheNextDaemonUntilOneIsBroken) {
  auto request = compare_request("a");
  request.mutable_spec()->set_kind(v1::CHECK);
  request.mutable_spec()->clear_baseline();
  request.mutable_spec()->clear_candidates();
  std::vector<v1::Golden> files;
  {
    Daemon daemon;
    v1::AcceptBitsRequest accept;
    accept.set_experiment_id(daemon.run(request).experiment_id());
    accept.set_reason("first");
    const auto accepted = daemon.scheduler().accept_bits(accept, Daemon::deadline());
    ASSERT_TRUE(accepted.ok()) << accepted.status();
    // Two cases of each suite; a mutant's bits are nobody's.
    ASSERT_EQ(accepted->goldens_size(), 4);
    for (const v1::Golden& golden : accepted->goldens()) {
      EXPECT_EQ(golden.tensor(), "all");
      EXPECT_EQ(golden.domain(), "any_device");
      EXPECT_TRUE(golden.workload().starts_with("parity/")) << golden.workload();
    }
    files = exported(daemon);
  }
  {
    Daemon daemon({device_config("cpu")}, files);
    const v1::Experiment experiment = daemon.run(request);
    for (const int item : {0, 1}) {
      EXPECT_EQ(experiment.configurations(item).check().num_goldens_reproduced(), 2U);
      EXPECT_EQ(experiment.configurations(item).check().num_goldens_missing(), 0U);
      EXPECT_TRUE(experiment.configurations(item).check().passed());
    }
    EXPECT_EQ(experiment.configurations(0).verdicts(0).golden(), "reproduced");
  }
  files.front().set_digest(std::string(32, '0'));
  Daemon daemon({device_config("cpu")}, files);
  const v1::Experiment experiment = daemon.run(request);
  const v1::CheckResult& broken = experiment.configurations(1).check();
  EXPECT_EQ(broken.name(), "large");
  EXPECT_FALSE(broken.passed());
  EXPECT_EQ(broken.first_golden_differing(),
            "`all` of parity/large/0: expected 00000000000000000000000000000000, found "
            "cccccccccccccccccccccccccccccccc");
  EXPECT_EQ(experiment.worst_verdict(), v1::REJECTED);
  EXPECT_TRUE(experiment.configurations(0).check().passed());
}

}  // namespace
}  // namespace assay::server
