#include "server/configuration_run.h"

#include "profiler/noise_floor.h"
#include "profiler/schedule.h"
#include "profiler/verdict.h"
#include "proto/status.h"
#include "proto/text.h"
#include "server/hopeless.h"
#include "server/judging.h"
#include "server/measurement_parts.h"
#include "tuning/race.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

using Clock = std::chrono::steady_clock;

// How a runner's progress message begins that is the log of a source's compile.
constexpr std::string_view kCompilerSays = "compiler:\n";

// Shares of a configuration's progress: checks and warm-up, then the rounds, then the close.
constexpr double kOpenShare = 0.2;
constexpr double kTimeShare = 0.75;

std::int64_t elapsed_ns(Clock::time_point since) {
  return std::chrono::nanoseconds(Clock::now() - since).count();
}

class Run {
 public:
  Run(const Plan& plan,
      v1::Configuration configuration,
      const RunnerCall& call,
      const RunContext& context)
      : plan_(plan),
        spec_(plan.spec()),
        call_(call),
        context_(context),
        options_(options_of(plan.spec())) {
    run_.configuration = std::move(configuration);
  }

  absl::StatusOr<ConfigurationRun> run() {
    const Clock::time_point start = Clock::now();
    const absl::Status status = carry_out();
    if (!status.ok() && !failed_) {
      return status;
    }
    v1::Configuration& configuration = run_.configuration;
    if (!failed_) {
      configuration.set_outcome(v1::FINISHED);
      configuration.set_message(compiler_log_);
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

  std::chrono::nanoseconds deadline() const {
    const std::int64_t by_default =
        spec_.kind() == v1::CHECK ? kDefaultCheckDeadlineNs : kDefaultDeadlineNs;
    return std::chrono::nanoseconds(spec_.deadline_ns() == 0 ? by_default : spec_.deadline_ns());
  }

  // Sends one request; a failure becomes the outcome and a status that ends the configuration.
  absl::StatusOr<v1::RunnerReply> ask(const v1::RunnerRequest& request,
                                      v1::RunnerReply::ReplyCase expected,
                                      double progress_from,
                                      double progress_share) {
    context_.progress(progress_from);
    auto reply = call_(request, deadline(), [&](const v1::RunnerProgress& progress) {
      if (progress.message().starts_with(kCompilerSays)) {
        compiler_log_ = progress.message().substr(kCompilerSays.size());
        return;
      }
      context_.progress(progress_from + progress_share * std::clamp(progress.progress(), 0.0, 1.0));
    });
    if (!reply.ok()) {
      run_.runner_is_sound = false;
      run_.cancelled = reply.status().code() == absl::StatusCode::kCancelled;
      return fail(outcome_of(reply.status().code()), std::string(reply.status().message()));
    }
    if (reply->has_error()) {
      const v1::RunnerError& error = reply->error();
      run_.runner_is_sound = error.refused();
      if (error.refused()) {
        run_.configuration.set_failure(refusal_class(error));
        return fail(v1::REFUSED, error.message());
      }
      return fail(outcome_of(static_cast<absl::StatusCode>(error.code())), error.message());
    }
    if (reply->reply_case() != expected) {
      run_.runner_is_sound = false;
      return fail(v1::BAD_FRAME, "the runner answered with another kind of reply");
    }
    return *std::move(reply);
  }

  static v1::FailureClass refusal_class(const v1::RunnerError& error) {
    if (error.failure() != v1::FAILURE_CLASS_UNSPECIFIED) {
      return error.failure();
    }
    return static_cast<absl::StatusCode>(error.code()) == absl::StatusCode::kResourceExhausted
               ? v1::RESOURCES
               : v1::CONSTRAINTS;
  }

  static v1::Outcome outcome_of(absl::StatusCode code) {
    switch (code) {
      case absl::StatusCode::kDeadlineExceeded:
        return v1::TIMED_OUT;
      case absl::StatusCode::kDataLoss:
        return v1::BAD_FRAME;
      default:
        return v1::CRASHED;
    }
  }

  absl::Status fail(v1::Outcome outcome, const std::string& message) {
    failed_ = true;
    run_.configuration.set_outcome(outcome);
    run_.configuration.set_message(message);
    return absl::AbortedError(message);
  }

  absl::Status check() {
    v1::RunnerRequest request;
    v1::RunnerCheck& check = *request.mutable_check();
    check.set_operator_name(spec_.operator_name());
    check.set_suite(run_.configuration.check().suite());
    check.set_name(run_.configuration.check().name());
    check.set_seed(spec_.seed());
    ASSAY_ASSIGN_OR_RETURN(v1::RunnerReply reply, ask(request, v1::RunnerReply::kChecked, 0, 1));
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
    ASSAY_ASSIGN_OR_RETURN(v1::RunnerReply reply, ask(request, v1::RunnerReply::kBenched, 0, 1));
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
      ASSAY_RETURN_IF_ERROR(look_by_look());
    }
    v1::RunnerRequest request;
    *request.mutable_close()->mutable_counters() = spec_.counters();
    ASSAY_ASSIGN_OR_RETURN(const v1::RunnerReply reply,
                           ask(request, v1::RunnerReply::kClosed, kOpenShare + kTimeShare, 0));
    append_both(reply.closed().baseline(), reply.closed().candidate());
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
                           ask(request, v1::RunnerReply::kOpened, 0, kOpenShare));
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

  // Whether a sweep gave it up.
  absl::StatusOr<bool> is_dropped(std::uint32_t max_rounds, std::int64_t& budget_ns) {
    const double drop_above =
        spec_.sweep().drop_above() == 0 ? kDefaultDropAbove : spec_.sweep().drop_above();
    for (const std::uint32_t look : kDropLooks) {
      if (!context_.may_drop || look >= max_rounds) {
        return false;
      }
      ASSAY_RETURN_IF_ERROR(run_rounds(look, max_rounds, budget_ns));
      const std::string why = why_hopeless(run_.configuration, drop_above);
      if (!why.empty()) {
        run_.configuration.set_stopped_because(why);
        return true;
      }
      if (budget_ns <= 0) {
        return false;
      }
    }
    return false;
  }

  absl::Status look_by_look() {
    const bool alone = !run_.configuration.has_candidate_arm();
    // A measurement is not judged, so it has one look; asked for more rounds, it has them all.
    const std::uint32_t one_look = alone ? profiler::kLooks.front() : profiler::kLooks.back();
    const std::uint32_t max_rounds = spec_.max_rounds() == 0 ? one_look : spec_.max_rounds();
    std::int64_t budget_ns = spec_.budget_ns() == 0 ? kDefaultBudgetNs : spec_.budget_ns();
    ASSAY_ASSIGN_OR_RETURN(const bool dropped, is_dropped(max_rounds, budget_ns));
    if (dropped) {
      return absl::OkStatus();
    }
    for (const std::uint32_t look : profiler::kLooks) {
      const std::uint32_t target = std::min(look, max_rounds);
      ASSAY_RETURN_IF_ERROR(run_rounds(target, max_rounds, budget_ns));
      if (budget_ns <= 0) {
        run_.configuration.set_stopped_because("budget used");
        return absl::OkStatus();
      }
      if (target == max_rounds) {
        break;
      }
      options_.now_ns = context_.now_ns();
      const std::string reached = alone ? "" : why_enough();
      if (!reached.empty()) {
        run_.configuration.set_stopped_because(reached);
        return absl::OkStatus();
      }
    }
    run_.configuration.set_stopped_because("rounds used");
    return absl::OkStatus();
  }

  // Why no more rounds are needed after a look; empty: they are.
  std::string why_enough() const {
    const v1::Verdict verdict = profiler::judge(run_.configuration, options_);
    if (spec_.interval_width() == 0) {
      return profiler::wants_more_rounds(verdict) ? "" : "verdict reached";
    }
    const v1::StageVerdict* total = profiler::headline_of(verdict);
    const bool is_narrow = total != nullptr && total->has_ratio() &&
                           total->ratio_high() - total->ratio_low() <= spec_.interval_width();
    return is_narrow ? "interval as narrow as asked" : "";
  }

  // Up to `target` rounds in all, in requests that stay well within the runner's deadline. What the
  // rounds took is taken from the budget; 0 when it is used up.
  absl::Status run_rounds(std::uint32_t target, std::uint32_t max_rounds, std::int64_t& budget_ns) {
    std::uint32_t done = num_rounds(run_.configuration);
    while (done < target && budget_ns > 0) {
      v1::RunnerRequest request;
      v1::RunnerTime& time = *request.mutable_time();
      time.set_schedule(options_.schedule);
      time.set_first_round(done);
      time.set_num_rounds(target - done);
      time.set_seed(spec_.seed());
      time.set_budget_ns(std::min<std::int64_t>(budget_ns, deadline().count() / 2));
      const double a_round = kTimeShare / max_rounds;
      const Clock::time_point start = Clock::now();
      ASSAY_ASSIGN_OR_RETURN(const v1::RunnerReply reply,
                             ask(request,
                                 v1::RunnerReply::kTimed,
                                 kOpenShare + a_round * done,
                                 a_round * (target - done)));
      budget_ns = std::max<std::int64_t>(0, budget_ns - elapsed_ns(start));
      append_both(reply.timed().baseline(), reply.timed().candidate());
      const std::uint32_t before = std::exchange(done, num_rounds(run_.configuration));
      if (done <= before) {
        run_.runner_is_sound = false;
        return fail(v1::BAD_FRAME, "the runner timed no round");
      }
    }
    if (done >= target) {
      budget_ns = std::max<std::int64_t>(budget_ns, 1);
    }
    return absl::OkStatus();
  }

  void append_both(const v1::Measurement& baseline, const v1::Measurement& candidate) {
    append(*run_.configuration.mutable_baseline(), baseline);
    if (run_.configuration.has_candidate_arm()) {
      append(*run_.configuration.mutable_candidate(), candidate);
    }
  }

  const Plan& plan_;
  const v1::ExperimentSpec& spec_;
  const RunnerCall& call_;
  const RunContext& context_;
  ConfigurationRun run_;
  profiler::JudgeOptions options_;
  bool failed_ = false;
  std::string compiler_log_;
};

}  // namespace

absl::StatusOr<ConfigurationRun> run_configuration(const Plan& plan,
                                                   v1::Configuration configuration,
                                                   const RunnerCall& call,
                                                   const RunContext& context) {
  return Run(plan, std::move(configuration), call, context).run();
}

}  // namespace assay::server
