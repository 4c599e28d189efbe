#include "server/plan.h"

#include "proto/text.h"
#include "tests/server/fixture.h"

#include <limits>

namespace assay::server {
namespace {

v1::AxisInfo integer(const std::string& name, const std::string& by_default, int max) {
  v1::AxisInfo info;
  info.set_name(name);
  info.set_default_value(by_default);
  info.set_max(max);
  return info;
}

Description describe() {
  Description description;
  v1::OperatorInfo& info = description.operators.emplace_back();
  info.set_name("fake");
  *info.add_axes() = integer("rows", "4", 1'000'000);
  v1::AxisInfo& kind = *info.add_axes();
  kind.set_name("kv");
  kind.set_default_value("int8");
  kind.add_choices("int8");
  kind.add_choices("fp16");
  info.add_variants()->set_name("base");
  v1::VariantInfo& twin = *info.add_variants();
  twin.set_name("twin");
  *twin.add_parameters() = integer("width", "4", 8);
  *twin.add_parameters() = integer("threads", "1", 8);
  v1::VariantInfo& modern = *info.add_variants();
  modern.set_name("modern");
  modern.set_min_compute_capability("9.0");
  v1::NamedWorkload& tall = *info.add_workloads();
  tall.set_name("tall");
  tall.add_axes()->set_name("rows");
  tall.mutable_axes(0)->set_value("1000");
  for (const char* name : {"int8", "fp16"}) {
    info.add_checks()->set_suite("parity");
    info.mutable_checks()->rbegin()->set_name(name);
  }
  info.add_checks()->set_suite("mutants");
  info.mutable_checks(2)->set_name("drops_one");
  return description;
}

void expect_error(const v1::SubmitRequest& request,
                  absl::StatusCode code,
                  const std::string& message) {
  absl::Status status = check_request(request);
  if (status.ok()) {
    status = make_plan(request.spec(), describe()).status();
  }
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(std::string(status.message()), message);
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

TEST(Plan, NamesWhatItDoesNotKnowAndListsWhatThereIs) {
  auto request = compare_request("r");
  request.mutable_spec()->set_operator_name("nope");
  expect_error(request, kNotFound, "spec.operator_name: no operator `nope`; it is one of `fake`");
  expect_error(compare_request("r", {}, "nope"),
               kNotFound,
               "spec.candidates[0].variant: no variant `nope`; it is one of `base`, `modern`, "
               "`twin`");
  expect_error(compare_request("r", {{"rows", {"1"}}, {"cols", {"1"}}}),
               kNotFound,
               "spec.axes[1].name: no workload axis, nor launch parameter of an arm, `cols`; it is "
               "one of `kv`, `rows`, `threads`, `width`");
  request = compare_request("r");
  request.mutable_spec()->add_workloads("nope");
  expect_error(request, kNotFound, "spec.workloads[0]: no workload `nope`; it is one of `tall`");
  request = compare_request("r");
  v1::Setting& parameter = *request.mutable_spec()->mutable_candidates(0)->add_parameters();
  parameter.set_name("depth");
  expect_error(
      request,
      kNotFound,
      "spec.candidates[0].parameters[0].name: no launch parameter of `twin` `depth`; it is "
      "one of `threads`, `width`");
}

TEST(Plan, NamesTheValueThatIsWrongByItsPath) {
  expect_error(compare_request("r", {{"rows", {"1", "2x"}}}),
               kInvalid,
               "spec.axes[0].values[1]: `2x` is no value of `rows`, which is an integer in [0, "
               "1000000]");
  expect_error(compare_request("r", {{"rows", {"1"}}, {"kv", {"fp8"}}}),
               kInvalid,
               "spec.axes[1].values[0]: `fp8` is no value of `kv`, which is one of int8, fp16");
  expect_error(compare_request("r", {{"width", {"9"}}}),
               kInvalid,
               "spec.axes[0].values[0]: `9` is no value of `width`, which is an integer in [0, 8]");
  expect_error(compare_request("r", {{"rows", {}}}),
               kInvalid,
               "spec.axes[0].values: must have at least one value");
  expect_error(compare_request("r", {{"rows", {"1"}}, {"rows", {"2"}}}),
               kInvalid,
               "spec.axes[1].name: `rows` is given twice");
}

TEST(Plan, RefusesAnAxisThatEveryArmSetsItself) {
  auto request = compare_request("r", {{"width", {"1", "2"}}});
  v1::Setting& own = *request.mutable_spec()->mutable_candidates(0)->add_parameters();
  own.set_name("width");
  own.set_value("3");
  expect_error(request, kInvalid, "spec.axes[0].name: every arm that has `width` sets it itself");
}

TEST(Plan, ChecksLimits) {
  auto request = compare_request("");
  expect_error(request, kInvalid, "request_id: must be 1 to 128 bytes");
  request = compare_request("r");
  request.mutable_spec()->set_num_calls(10'001);
  expect_error(request, kInvalid, "spec.num_calls: must be in [0, 10,000]");
  request = compare_request("r");
  request.mutable_spec()->set_max_rounds(49);
  expect_error(request, kInvalid, "spec.max_rounds: must be in [0, 48]");
  request = compare_request("r");
  request.mutable_spec()->set_least_effect(std::numeric_limits<double>::quiet_NaN());
  expect_error(request, kInvalid, "spec.least_effect: must be in [0, 0.5]");
  request = compare_request("r");
  request.mutable_spec()->set_label(std::string(201, 'x'));
  expect_error(request, kInvalid, "spec.label: has 201 bytes, the limit is 200");
  request = compare_request("r");
  request.mutable_spec()->add_workloads(std::string(kMaxSpecBytes, 'x'));
  expect_error(request,
               absl::StatusCode::kResourceExhausted,
               "spec: has " + std::to_string(request.spec().ByteSizeLong()) +
                   " bytes, the limit is 12,582,912");
  request = compare_request("r");
  request.mutable_spec()->set_kind(v1::EXPERIMENT_KIND_UNSPECIFIED);
  expect_error(
      request, kInvalid, "spec.kind: must be COMPARE, MEASURE, CHECK, CALIBRATE, BENCH or SWEEP");
  request = compare_request("r");
  request.mutable_spec()->clear_candidates();
  expect_error(request, kInvalid, "spec.candidates: a COMPARE needs at least one");
}

TEST(Plan, RefusesMoreThanAMillionConfigurations) {
  const std::vector<std::string> values(101, "1");
  expect_error(
      compare_request(
          "r", {{"rows", values}, {"kv", std::vector<std::string>(99, "int8")}, {"width", values}}),
      absl::StatusCode::kResourceExhausted,
      "spec.axes: more than 1,000,000 configurations in all, the limit");
}

TEST(Plan, SaysThatADeviceIsTooOldForAVariant) {
  Description description = describe();
  description.device.set_compute_capability("7.5");
  const auto plan = make_plan(compare_request("r", {}, "modern").spec(), description);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      plan.status().message(),
      "spec.candidates[0].variant: `modern` needs compute capability 9.0, the device has 7.5");
}

TEST(Plan, SaysThatADeviceIsTooOldForACheckOfTheBaseline) {
  Description description = describe();
  description.device.set_compute_capability("7.5");
  v1::ExperimentSpec spec;
  spec.set_kind(v1::CHECK);
  spec.set_operator_name("fake");
  EXPECT_TRUE(make_plan(spec, description).ok());
  description.operators[0].mutable_variants(0)->set_min_compute_capability("8.0");
  const absl::Status status = make_plan(spec, description).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "spec.operator_name: `base` needs compute capability 8.0, the device has 7.5");
}

TEST(Plan, RefusesGraphsWhereThereAreNone) {
  auto request = compare_request("r");
  request.mutable_spec()->set_launch_mode(static_cast<v1::LaunchMode>(7));
  expect_error(request, kInvalid, "spec.launch_mode: must be STREAM or GRAPH");
  request.mutable_spec()->set_launch_mode(v1::GRAPH);
  Description description = describe();
  EXPECT_TRUE(make_plan(request.spec(), description).ok());
  description.device.set_backend("cpu");
  const absl::Status status = make_plan(request.spec(), description).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "spec.launch_mode: the cpu device has no graphs; ask for STREAM");
  v1::ExperimentSpec check;
  check.set_kind(v1::CHECK);
  check.set_operator_name("fake");
  check.set_launch_mode(v1::GRAPH);
  EXPECT_EQ(make_plan(check, description).status().message(),
            "spec.launch_mode: a CHECK takes none");
}

TEST(Plan, CombinesWorkloadsArmsAndParameters) {
  auto request = compare_request(
      "r", {{"rows", {"007", "2"}}, {"width", {"1", "2"}}, {"kv", {"fp16", "int8"}}});
  // `base` as a candidate has no width, so it comes once a workload.
  request.mutable_spec()->add_candidates()->set_variant("base");
  request.mutable_spec()->set_seed(7);
  const auto plan = make_plan(request.spec(), describe());
  ASSERT_TRUE(plan.ok()) << plan.status();
  ASSERT_EQ(plan->num_workloads(), 4U);
  ASSERT_EQ(plan->num_configurations(), 12U);
  std::vector<std::string> lines;
  for (std::uint32_t number = 1; number <= 4; ++number) {
    const v1::Configuration configuration = plan->configuration(number);
    EXPECT_EQ(configuration.configuration(), number);
    lines.push_back(proto::text_of(configuration.workload()) + " " +
                    proto::text_of(configuration.candidate_arm()));
  }
  const std::vector<std::string> expected = {"rows=7,kv=fp16,seed=7 twin:width=1,threads=1",
                                             "rows=7,kv=fp16,seed=7 twin:width=2,threads=1",
                                             "rows=7,kv=fp16,seed=7 base",
                                             "rows=7,kv=int8,seed=7 twin:width=1,threads=1"};
  EXPECT_EQ(lines, expected);
  EXPECT_EQ(proto::text_of(plan->configuration(12).workload()), "rows=2,kv=int8,seed=7");
}

TEST(Plan, LetsAxesOverrideANamedWorkload) {
  auto request = compare_request("r", {{"kv", {"fp16"}}});
  request.mutable_spec()->add_workloads("tall");
  const auto plan = make_plan(request.spec(), describe());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(proto::text_of(plan->configuration(1).workload()), "rows=1000,kv=fp16,seed=0");
  EXPECT_EQ(plan->configuration(1).workload().name(), "tall");
}

TEST(Plan, BenchesADeviceWithoutAnOperator) {
  v1::SubmitRequest request;
  request.set_request_id("r");
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(v1::BENCH);
  const auto plan = make_plan(spec, describe());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->num_configurations(), 1U);
  EXPECT_FALSE(plan->configuration(1).has_workload());
  spec.set_operator_name("fake");
  expect_error(request, kInvalid, "spec.operator_name: a BENCH takes none");
  spec.clear_operator_name();
  spec.add_counters("dram");
  expect_error(request, kInvalid, "spec.counters: a BENCH takes none");
  spec.clear_counters();
  spec.mutable_baseline()->set_variant("base");
  expect_error(request, kInvalid, "spec.baseline: a BENCH takes none");
}

TEST(Plan, TakesTheTimingSourcesThatADeviceHas) {
  v1::SubmitRequest request = compare_request("r");
  request.mutable_spec()->set_timing_source(static_cast<v1::TimingSource>(9));
  expect_error(
      request, kInvalid, "spec.timing_source: must be STEADY_CLOCK, CUPTI_ACTIVITY or CUDA_EVENTS");
  Description description = describe();
  description.device.set_backend("cpu");
  request.mutable_spec()->set_timing_source(v1::CUDA_EVENTS);
  absl::Status status = make_plan(request.spec(), description).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "spec.timing_source: the cpu device has STEADY_CLOCK only");
  description.device.set_backend("cuda");
  EXPECT_TRUE(make_plan(request.spec(), description).ok());
  request.mutable_spec()->set_timing_source(v1::STEADY_CLOCK);
  status = make_plan(request.spec(), description).status();
  EXPECT_EQ(status.message(),
            "spec.timing_source: a CUDA device has CUPTI_ACTIVITY and CUDA_EVENTS");
}

TEST(Plan, AsksForANarrowIntervalOnlyWhereThereIsARatio) {
  v1::SubmitRequest request = compare_request("r");
  request.mutable_spec()->set_interval_width(0.6);
  expect_error(request, kInvalid, "spec.interval_width: must be in [0, 0.5]");
  request.mutable_spec()->set_interval_width(0.002);
  EXPECT_TRUE(make_plan(request.spec(), describe()).ok());
  request.mutable_spec()->set_kind(v1::MEASURE);
  request.mutable_spec()->clear_candidates();
  expect_error(request, kInvalid, "spec.interval_width: a MEASURE has no ratio");
}

TEST(Plan, LimitsCounters) {
  v1::SubmitRequest request = compare_request("r");
  request.mutable_spec()->add_counters("");
  expect_error(request, kInvalid, "spec.counters[0]: must be 1 to 200 bytes");
  request.mutable_spec()->set_counters(0, "dram");
  EXPECT_TRUE(check_request(request).ok());
  for (int i = 0; i < 64; ++i) {
    request.mutable_spec()->add_counters("l2");
  }
  EXPECT_EQ(check_request(request).code(), absl::StatusCode::kResourceExhausted);
}

TEST(Plan, TakesSuitesApart) {
  v1::SubmitRequest request = compare_request("r");
  v1::ExperimentSpec& spec = *request.mutable_spec();
  spec.set_kind(v1::CHECK);
  expect_error(request, kInvalid, "spec.baseline: a CHECK takes none");
  spec.clear_baseline();
  spec.clear_candidates();
  spec.set_suite("nope");
  expect_error(
      request, kNotFound, "spec.suite: no suite `nope`; it is one of `all`, `mutants`, `parity`");
  spec.set_suite("parity");
  EXPECT_EQ(make_plan(spec, describe())->num_configurations(), 2U);
  spec.set_suite("all");
  EXPECT_EQ(make_plan(spec, describe())->configuration(3).check().name(), "drops_one");
  spec.set_suite("parity/fp16");
  EXPECT_EQ(make_plan(spec, describe())->configuration(1).check().name(), "fp16");
}

v1::SubmitRequest sweep_request(const AxisValues& axes = {}) {
  auto request = compare_request("r", axes);
  request.mutable_spec()->set_kind(v1::SWEEP);
  return request;
}

TEST(Plan, RefusesASweepThatIsNone) {
  auto request = sweep_request();
  request.mutable_spec()->add_candidates()->set_variant("base");
  expect_error(
      request, kInvalid, "spec.candidates: a SWEEP needs exactly one, whose parameters it walks");
  request = compare_request("r");
  request.mutable_spec()->mutable_sweep()->set_strategy("random");
  expect_error(request, kInvalid, "spec.sweep: is of a SWEEP only");
  request = sweep_request();
  request.mutable_spec()->mutable_sweep()->set_strategy("lucky");
  EXPECT_EQ(make_plan(request.spec(), describe()).status().code(), kNotFound);
  request.mutable_spec()->mutable_sweep()->set_objective("mean");
  expect_error(request, kInvalid, "spec.sweep.objective: must be median");
  request.mutable_spec()->mutable_sweep()->set_drop_above(2);
  expect_error(request, kInvalid, "spec.sweep.drop_above: must be in [0, 1]");
}

TEST(Plan, WalksWhatTheCandidateLeavesOpen) {
  auto request = sweep_request();
  auto plan = make_plan(request.spec(), describe());
  ASSERT_TRUE(plan.ok()) << plan.status();
  // width and threads: 0, 1, 2, 4, 8 each.
  EXPECT_EQ(plan->num_configurations(), 25U);
  EXPECT_EQ(proto::text_of(plan->baseline_arm()), "base");
  EXPECT_EQ(proto::text_of(plan->sweep_arm(plan->points(0)[1])), "twin:width=0,threads=1");
  v1::Setting& own = *request.mutable_spec()->mutable_candidates(0)->add_parameters();
  own.set_name("threads");
  own.set_value("3");
  plan = make_plan(request.spec(), describe());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->num_configurations(), 5U);
  EXPECT_EQ(proto::text_of(plan->sweep_arm(plan->points(0)[0])), "twin:width=0,threads=3");
  plan = make_plan(sweep_request({{"width", {"1", "2"}}, {"rows", {"1", "2", "3"}}}).spec(),
                   describe());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->num_configurations(), 6U);
  EXPECT_EQ(plan->num_workloads(), 3U);
}

TEST(Plan, LetsRestrictionsOfASweepNameWorkloadsToo) {
  Description description = describe();
  description.restrictions = {"width * rows <= 8"};
  const auto plan = make_plan(
      sweep_request({{"width", {"1", "2", "4"}}, {"rows", {"2", "4"}}}).spec(), description);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->points(0).size(), 3U);
  EXPECT_EQ(plan->points(1).size(), 2U);
  EXPECT_EQ(plan->num_configurations(), 5U);
}

}  // namespace
}  // namespace assay::server
