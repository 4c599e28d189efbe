#include "server/source.h"

#include "tests/server/fixture.h"
#include "tuning/content_digest.h"
#include "tuning/source_spec.h"

#include <google/protobuf/text_format.h>

#include <string>

namespace assay::server {
namespace {

constexpr const char* kScale = R"(
  name: "scale"
  files { name: "old.cu" text: "old" } files { name: "new.cu" text: "new" }
  files { name: "broken.cu" text: "#error not yet" }
  axes { name: "ns" default_value: 1000000 min: 1 max: 1000000000 }
  axes { name: "crash" min: 0 max: 1 }
  parameters { name: "block" values: ["64", "128"] }
  restrictions: "crash == 1 or block < 100"
  tensors { name: "a" dtype: "f32" role: "input" shape: "4" fill { kind: "file" } }
  tensors { name: "out" dtype: "f32" role: "output" shape: "4" }
  stages {
    name: "scale" kernel: "scale" grid: "1" block: "block"
    arguments { tensor: "a" } arguments { tensor: "out" }
  }
  variants { name: "old" has_no_parameters: true
             stages { name: "only" kernel: "old" grid: "1" block: "4"
                      arguments { tensor: "out" } } }
  variants { name: "new" file: "new.cu" }
  variants { name: "broken" file: "broken.cu" })";

const std::string kData = std::string(16, '\xff');

v1::SourceSpec scale() {
  v1::SourceSpec source;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kScale, &source));
  source.mutable_tensors(0)->mutable_fill()->set_digest(tuning::content_digest(kData));
  return source;
}

// Keeps the source (its data only if asked) and gives the request that compares two variants of it.
v1::SubmitRequest request_of(Daemon& daemon,
                             const v1::SourceSpec& source,
                             const AxisValues& axes = {},
                             const std::string& candidate = "new",
                             bool with_data = true) {
  const std::string bytes = source.SerializeAsString();
  EXPECT_TRUE(daemon.store().add_blob(tuning::content_digest(bytes), bytes, 1).ok());
  if (with_data) {
    EXPECT_TRUE(daemon.store().add_blob(tuning::content_digest(kData), kData, 1).ok());
  }
  v1::SubmitRequest request = compare_request("source", axes, candidate);
  request.mutable_spec()->set_operator_name(tuning::source_operator_name(source));
  request.mutable_spec()->set_source_digest(tuning::content_digest(bytes));
  request.mutable_spec()->mutable_baseline()->set_variant("old");
  return request;
}

std::string error_of(Daemon& daemon, const v1::SubmitRequest& request) {
  return daemon.submit(request).status().ToString();
}

TEST(Source, IsRefusedBeforeItIsQueued) {
  Daemon daemon;
  v1::SubmitRequest request = request_of(daemon, scale(), {}, "new", false);
  EXPECT_EQ(error_of(daemon, request),
            "NOT_FOUND: spec.source_digest: source.tensors[0].fill.digest: no data " +
                tuning::content_digest(kData) + " was uploaded");
  request = request_of(daemon, scale());
  request.mutable_spec()->set_operator_name("scale@00000000");
  EXPECT_EQ(error_of(daemon, request),
            "INVALID_ARGUMENT: spec.operator_name: `scale@00000000`; that of the source is `" +
                tuning::source_operator_name(scale()) + "`");
  request.mutable_spec()->set_source_digest(std::string(32, 'a'));
  EXPECT_EQ(error_of(daemon, request),
            "NOT_FOUND: spec.source_digest: no source " + std::string(32, 'a') + " was uploaded");
  request.mutable_spec()->set_source_digest("../a");
  EXPECT_EQ(error_of(daemon, request),
            "INVALID_ARGUMENT: spec.source_digest: `../a` is not 32 lower-case hexadecimal digits");
  request.mutable_spec()->set_source_digest(tuning::content_digest(kData));
  EXPECT_EQ(error_of(daemon, request),
            "INVALID_ARGUMENT: spec.source_digest: what was uploaded is no SourceSpec");
  request.mutable_spec()->set_kind(v1::CHECK);
  EXPECT_EQ(error_of(daemon, request), "INVALID_ARGUMENT: spec.source_digest: a CHECK takes none");
  v1::SourceSpec source = scale();
  source.set_name("fake");
  EXPECT_EQ(error_of(daemon, request_of(daemon, source)),
            "INVALID_ARGUMENT: spec.source_digest: source.name: `fake` is an operator of the "
            "catalogue; choose another");
  source = scale();
  source.mutable_tensors(1)->set_dtype("float");
  EXPECT_EQ(error_of(daemon, request_of(daemon, source)).substr(0, 84),
            "INVALID_ARGUMENT: spec.source_digest: source.tensors[1].dtype: `float`: expected one");
  EXPECT_EQ(error_of(daemon, request_of(daemon, scale(), {{"block", {"96"}}})),
            "INVALID_ARGUMENT: spec.axes[0].values[0]: `96` is no value of `block`, which is one "
            "of 64, 128");
}

TEST(Source, NeedsADeviceThatCompilesIt) {
  Daemon daemon;
  const v1::SubmitRequest request = request_of(daemon, scale());
  auto description = daemon.scheduler().describe("cpu", Daemon::deadline());
  ASSERT_TRUE(description.ok()) << description.status();
  description->device.set_compiles_source(false);
  description->device.set_source_refused("source needs a CUDA device");
  EXPECT_EQ(with_source(*description, request.spec(), daemon.store()).status().ToString(),
            "FAILED_PRECONDITION: spec.device: `cpu` compiles no source: source needs a CUDA "
            "device");
}

TEST(Source, IsPromisedItsBitsOnItsArchitecture) {
  Daemon daemon;
  const v1::SubmitRequest request = request_of(daemon, scale());
  auto description = daemon.scheduler().describe("cpu", Daemon::deadline());
  ASSERT_TRUE(description.ok()) << description.status();
  description->device.set_compute_capability("9.0");
  const auto known = with_source(*description, request.spec(), daemon.store());
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(known->operators.size(), description->operators.size() + 1);
  EXPECT_EQ(known->operators.back().bits_domain(), "sm_90");
}

TEST(Source, ThatDoesNotCompileIsARefusedConfiguration) {
  Daemon daemon;
  const v1::Experiment experiment = daemon.run(request_of(daemon, scale(), {}, "broken"));
  ASSERT_EQ(experiment.configurations_size(), 1);
  const v1::Configuration& configuration = experiment.configurations(0);
  EXPECT_EQ(configuration.outcome(), v1::REFUSED);
  EXPECT_EQ(configuration.failure(), v1::COMPILE);
  EXPECT_EQ(configuration.message(), "broken.cu(1): error: #error not yet");
}

TEST(Source, ReachesEveryRunnerBeforeItsConfigurations) {
  Daemon daemon;
  const v1::Experiment experiment =
      daemon.run(request_of(daemon, scale(), {{"crash", {"0", "1", "0"}}, {"block", {"64"}}}));
  ASSERT_EQ(experiment.state(), v1::DONE) << experiment.message();
  ASSERT_EQ(experiment.configurations_size(), 3);
  EXPECT_EQ(experiment.configurations(0).outcome(), v1::FINISHED)
      << experiment.configurations(0).message();
  EXPECT_EQ(experiment.configurations(0).verdicts(0).verdict(), v1::SAME);
  EXPECT_EQ(experiment.configurations(1).outcome(), v1::CRASHED);
  EXPECT_EQ(experiment.configurations(2).outcome(), v1::FINISHED)
      << experiment.configurations(2).message();
}

TEST(Source, IsNotRunWhereItsRestrictionsForbidIt) {
  Daemon daemon;
  const v1::Experiment experiment =
      daemon.run(request_of(daemon, scale(), {{"block", {"64", "128"}}}));
  ASSERT_EQ(experiment.configurations_size(), 2);
  EXPECT_EQ(experiment.configurations(0).outcome(), v1::FINISHED);
  EXPECT_EQ(experiment.configurations(1).outcome(), v1::REFUSED);
  EXPECT_EQ(experiment.configurations(1).failure(), v1::CONSTRAINTS);
  EXPECT_EQ(experiment.configurations(1).message(),
            "candidate: restrictions[0]: `crash == 1 or block < 100` does not hold (crash=0, "
            "block=128)");
}

TEST(Source, IsTheSameOperatorOnceItIsComplete) {
  const v1::SourceSpec complete = tuning::complete_source(scale());
  EXPECT_EQ(tuning::source_operator_name(complete), tuning::source_operator_name(scale()));
  EXPECT_EQ(tuning::validate_source(complete), absl::OkStatus());
}

TEST(Source, IsSweptWithinItsRestrictions) {
  Daemon daemon;
  v1::SourceSpec source = scale();
  for (const bool has_variants : {true, false}) {
    SCOPED_TRACE(has_variants);
    if (!has_variants) {
      source.clear_variants();
    }
    v1::SubmitRequest request = request_of(daemon, source, {}, has_variants ? "new" : "source");
    request.set_request_id(has_variants ? "named" : "alone");
    request.mutable_spec()->set_kind(v1::SWEEP);
    request.mutable_spec()->mutable_baseline()->set_variant(has_variants ? "old" : "source");
    const v1::Experiment experiment = daemon.run(request);
    EXPECT_EQ(experiment.state(), v1::DONE) << experiment.message();
    // 128 is kept out while nothing crashes.
    ASSERT_EQ(experiment.configurations_size(), 1);
    EXPECT_EQ(experiment.configurations(0).candidate_arm().parameters(0).value(), "64");
  }
}

}  // namespace
}  // namespace assay::server
