#include "server/configuration_run.h"

#include "profiler/noise_floor.h"
#include "profiler/verdict.h"
#include "proto/status.h"
#include "proto/text.h"
#include "server/elapsed.h"
#include "server/judging.h"
#include "server/look_by_look.h"
#include "server/measurement_parts.h"
#include "server/runner_dialogue.h"
#include "tuning/race.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {
namespace {

using Clock = std::chrono::steady_clock;

class Run {
 public:
  Run(const Plan& plan,
      v1::Configuration configuration,
      const RunnerCall& call,
      const RunContext& context)
      : plan_(plan),
        spec_(plan.spec()),
        context_(context),
        runner_(spec_, call, context, run_),
        options_(options_of(plan.spec())) {
    run_.configuration = std::move(configuration);
  }

  absl::StatusOr<ConfigurationRun> run() {
    const Clock::time_point start = Clock::now();
    const absl::Status status = carry_out();
    if (!status.ok() && !runner_.failed()) {
      return status;
    }
    v1::Configuration& configuration = run_.configuration;
    if (!runner_.failed()) {
      configuration.set_outcome(v1::FINISHED);
      configuration.set_message(runner_.compiler_log());
      options_.now_ns = context_.now_ns();
      if (spec_.kind() != v1::BENCH) {
        *configuration.add_verdicts() = profiler::judge(configuration, options_);
      }
      if (spec_.kind() == v1::CALIBRATE) {
        keep_noise_floor();
      }
    }
    configuration.set_failure(tuning::failure_of(configuration));
    configuration.set_elapsed_ns(elapsed_ns(start));
    return std::move(run_);
  }

 private:
  absl::Status carry_out() {
    switch (spec_.kind()) {
      case v1::CHECK:
        return check();
      case v1::BENCH:
        return bench();
      default:
        return time();
    }
  }

  // A control without a ratio says why in its verdict, and leaves the floor that was stored.
  void keep_noise_floor() {
    const v1::Configuration& configuration = run_.configuration;
    auto floor = profiler::noise_floor_of(
        profiler::noise_floor_key(*context_.device, spec_.operator_name(), configuration),
        *context_.device,
        configuration.verdicts(0),
        options_.now_ns);
    if (floor.ok()) {
      floor->set_experiment_id(context_.experiment_id);
      run_.noise_floor = *std::move(floor);
    }
  }

  absl::Status check() {
    v1::RunnerRequest request;
    v1::RunnerCheck& check = *request.mutable_check();
    check.set_operator_name(spec_.operator_name());
    check.set_suite(run_.configuration.check().suite());
    check.set_name(run_.configuration.check().name());
    check.set_seed(spec_.seed());
    ASSAY_ASSIGN_OR_RETURN(v1::RunnerReply reply,
                           runner_.ask(request, v1::RunnerReply::kChecked, 0, 1));
    v1::CheckResult& result = *run_.configuration.mutable_check();
    result = std::move(*reply.mutable_checked());
    result.set_suite(check.suite());
    result.set_name(check.name());
    ASSAY_ASSIGN_OR_RETURN(
        const Goldens::Comparison compared,
        context_.goldens->compare(result, plan_.operator_info(), *context_.device));
    result.set_num_goldens_reproduced(compared.num_reproduced);
    result.set_num_goldens_missing(compared.num_missing);
    result.set_num_goldens_differing(compared.num_differing);
    result.set_first_golden_differing(compared.first_differing);
    options_.golden = compared.golden();
    options_.golden_differs = compared.num_differing > 0;
    if (result.passed() && compared.num_differing > 0) {
      result.set_passed(false);
      result.set_rejected_by(v1::BITS_GOLDEN);
      result.set_detail(absl::StrCat("golden differs: ", compared.first_differing));
    }
    return absl::OkStatus();
  }

  absl::Status bench() {
    v1::RunnerRequest request;
    request.mutable_bench();
    ASSAY_ASSIGN_OR_RETURN(v1::RunnerReply reply,
                           runner_.ask(request, v1::RunnerReply::kBenched, 0, 1));
    auto& ceilings = *run_.configuration.mutable_ceilings();
    ceilings = std::move(*reply.mutable_benched()->mutable_ceilings());
    for (v1::Ceiling& ceiling : ceilings) {
      ceiling.set_device_uuid(context_.device->uuid());
      ceiling.set_driver_version(context_.device->driver_version());
      ceiling.set_toolkit_version(context_.device->toolkit_version());
      ceiling.set_code_version(context_.device->code_version());
      ceiling.set_measured_ns(context_.now_ns());
      ceiling.set_experiment_id(context_.experiment_id);
    }
    return absl::OkStatus();
  }

  absl::Status time() {
    ASSAY_RETURN_IF_ERROR(open());
    ASSAY_RETURN_IF_ERROR(prepare_judgement());
    if (rejected()) {
      run_.configuration.set_stopped_because("rejected before it was timed");
    } else {
      ASSAY_RETURN_IF_ERROR(time_look_by_look(spec_, context_, options_, runner_, run_));
    }
    v1::RunnerRequest request;
    *request.mutable_close()->mutable_counters() = spec_.counters();
    ASSAY_ASSIGN_OR_RETURN(
        const v1::RunnerReply reply,
        runner_.ask(request, v1::RunnerReply::kClosed, kOpenShare + kTimeShare, 0));
    append_both(run_.configuration, reply.closed().baseline(), reply.closed().candidate());
    return absl::OkStatus();
  }

  absl::Status open() {
    v1::RunnerRequest request;
    v1::RunnerOpen& open = *request.mutable_open();
    open.set_operator_name(spec_.operator_name());
    *open.mutable_workload() = run_.configuration.workload();
    *open.mutable_baseline() = run_.configuration.baseline_arm();
    if (run_.configuration.has_candidate_arm()) {
      *open.mutable_candidate() = run_.configuration.candidate_arm();
    }
    open.set_cache_mode(spec_.cache_mode());
    open.set_launch_mode(spec_.launch_mode());
    open.set_timing_source(spec_.timing_source());
    open.set_admission_ns(spec_.admission_ns());
    open.set_num_calls(spec_.num_calls());
    open.set_experiment_id(context_.experiment_id);
    ASSAY_ASSIGN_OR_RETURN(v1::RunnerReply reply,
                           runner_.ask(request, v1::RunnerReply::kOpened, 0, kOpenShare));
    *run_.configuration.mutable_baseline() = std::move(*reply.mutable_opened()->mutable_baseline());
    if (run_.configuration.has_candidate_arm()) {
      *run_.configuration.mutable_candidate() =
          std::move(*reply.mutable_opened()->mutable_candidate());
    }
    options_.identical_code = reply.opened().identical_code();
    return absl::OkStatus();
  }

  // Goldens, noise and limits: all that the judgement needs besides the samples.
  absl::Status prepare_judgement() {
    v1::Configuration& configuration = run_.configuration;
    ASSAY_ASSIGN_OR_RETURN(const Goldens::Comparison baseline,
                           compare_golden(*configuration.mutable_baseline()));
    options_.golden = baseline.golden();
    options_.golden_differs = baseline.num_differing > 0;
    if (!configuration.has_candidate()) {
      return absl::OkStatus();
    }
    ASSAY_ASSIGN_OR_RETURN(const Goldens::Comparison candidate,
                           compare_golden(*configuration.mutable_candidate()));
    options_.golden = candidate.golden();
    options_.golden_differs = candidate.num_differing > 0;
    return add_noise_floor(
        *context_.store, *context_.device, spec_, configuration, context_.now_ns(), options_);
  }

  // A golden that differs is the arm's failure, unless it already has another.
  absl::StatusOr<Goldens::Comparison> compare_golden(v1::Measurement& measurement) {
    v1::Golden key;
    key.set_operator_name(spec_.operator_name());
    key.set_workload(proto::text_of(run_.configuration.workload()));
    key.set_family(measurement.family());
    key.set_domain(bits_domain(plan_.operator_info(),
                               measurement.arm().variant(),
                               measurement.family(),
                               *context_.device));
    ASSAY_ASSIGN_OR_RETURN(Goldens::Comparison compared,
                           context_.goldens->compare(measurement, std::move(key)));
    v1::BitsReport& bits = *measurement.mutable_bits();
    if (compared.num_differing > 0 && bits.failed() == v1::BITS_CHECK_UNSPECIFIED) {
      bits.set_failed(v1::BITS_GOLDEN);
      bits.set_detail(absl::StrCat("golden differs: ", compared.first_differing));
    }
    return compared;
  }

  bool rejected() const {
    const v1::Configuration& configuration = run_.configuration;
    return configuration.baseline().bits().failed() != v1::BITS_CHECK_UNSPECIFIED ||
           (configuration.has_candidate() &&
            configuration.candidate().bits().failed() != v1::BITS_CHECK_UNSPECIFIED);
  }

  const Plan& plan_;
  const v1::ExperimentSpec& spec_;
  const RunContext& context_;
  ConfigurationRun run_;
  RunnerDialogue runner_;
  profiler::JudgeOptions options_;
};

}  // namespace

absl::StatusOr<ConfigurationRun> run_configuration(const Plan& plan,
                                                   v1::Configuration configuration,
                                                   const RunnerCall& call,
                                                   const RunContext& context) {
  return Run(plan, std::move(configuration), call, context).run();
}

}  // namespace assay::server
