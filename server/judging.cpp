#include "server/judging.h"

#include "profiler/noise_floor.h"
#include "profiler/verdict.h"
#include "proto/status.h"
#include "proto/text.h"
#include "server/plan.h"
#include "server/scheduler.h"

#include "absl/strings/str_cat.h"

#include <cmath>
#include <string>
#include <utility>

namespace assay::server {
namespace {

// The same but for the time at which it was made.
bool says_the_same(v1::Verdict a, v1::Verdict b) {
  a.clear_judged_ns();
  b.clear_judged_ns();
  return a.SerializeAsString() == b.SerializeAsString();
}

absl::Status check_request(const v1::JudgeRequest& request) {
  const double effect = request.least_effect();
  if (!std::isfinite(effect) || effect < 0 || effect > kMaxLeastEffect) {
    return absl::InvalidArgumentError("least_effect: must be in [0, 0.5]");
  }
  return absl::OkStatus();
}

absl::Status check_experiment(const v1::Experiment& experiment) {
  const v1::ExperimentKind kind = experiment.spec().kind();
  if (kind != v1::COMPARE && kind != v1::CALIBRATE) {
    return absl::FailedPreconditionError(absl::StrCat("experiment ",
                                                      experiment.experiment_id(),
                                                      " is a ",
                                                      v1::ExperimentKind_Name(kind),
                                                      ", which has no verdict in time"));
  }
  if (!is_final(experiment.state())) {
    return absl::FailedPreconditionError(absl::StrCat("experiment ",
                                                      experiment.experiment_id(),
                                                      " is ",
                                                      v1::TaskState_Name(experiment.state()),
                                                      ": it is judged when it ends"));
  }
  return absl::OkStatus();
}

// What the daemon knew when it judged, as far as the newest verdict and the store tell.
absl::StatusOr<profiler::JudgeOptions> known_options(const db::Store& store,
                                                     const v1::JudgeRequest& request,
                                                     const v1::Experiment& experiment,
                                                     const v1::Configuration& configuration,
                                                     std::int64_t now_ns) {
  const v1::ExperimentSpec& spec = experiment.spec();
  const v1::Verdict& last = configuration.verdicts(configuration.verdicts_size() - 1);
  profiler::JudgeOptions options = options_of(spec);
  if (request.least_effect() != 0) {
    options.least_effect = request.least_effect();
  }
  options.golden = last.golden();
  options.golden_differs = last.golden() == "differs";
  options.identical_code = last.identical_code();
  options.now_ns = now_ns;
  // As old as it was beside these samples.
  ASSAY_RETURN_IF_ERROR(add_noise_floor(
      store, experiment.device(), spec, configuration, experiment.finished_ns(), options));
  if (!options.noise_floor && last.has_noise_floor()) {
    v1::NoiseFloor& floor = options.noise_floor.emplace();
    floor.set_noise_floor(last.noise_floor());
    floor.set_measured_ns(last.noise_floor_ns());
    floor.set_experiment_id(last.noise_floor_experiment_id());
    options.noise_floor_stale = last.noise_floor_stale();
  }
  return options;
}

}  // namespace

profiler::JudgeOptions options_of(const v1::ExperimentSpec& spec) {
  profiler::JudgeOptions options;
  options.least_effect = spec.least_effect() == 0 ? kDefaultLeastEffect : spec.least_effect();
  options.schedule = spec.schedule() == v1::SCHEDULE_UNSPECIFIED ? v1::BAB : spec.schedule();
  return options;
}

absl::Status add_noise_floor(const db::Store& store,
                             const v1::Device& device,
                             const v1::ExperimentSpec& spec,
                             const v1::Configuration& configuration,
                             std::int64_t sampled_ns,
                             profiler::JudgeOptions& options) {
  if (spec.kind() == v1::CALIBRATE) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(
      options.noise_floor,
      store.noise_floor(profiler::noise_floor_key(device, spec.operator_name(), configuration)));
  if (options.noise_floor) {
    options.noise_floor_stale = profiler::why_stale(*options.noise_floor, device, sampled_ns);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::JudgeResponse> judge_again(db::Store& store,
                                              const v1::JudgeRequest& request,
                                              std::int64_t now_ns) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  v1::GetRequest get;
  get.set_experiment_id(request.experiment_id());
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, store.get(get));
  ASSAY_RETURN_IF_ERROR(check_experiment(experiment));
  v1::JudgeResponse response;
  get.set_experiment_id(experiment.experiment_id());
  get.set_include_samples(true);
  for (const v1::Configuration& listed : experiment.configurations()) {
    if (listed.outcome() != v1::FINISHED || listed.verdicts().empty()) {
      continue;
    }
    get.set_configuration(listed.configuration());
    ASSAY_ASSIGN_OR_RETURN(const v1::Experiment one, store.get(get));
    const v1::Configuration& configuration = one.configurations(0);
    if (configuration.baseline().blocks_size() > 0 && configuration.baseline().stages().empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("configuration ",
                       configuration.configuration(),
                       ": its samples were pruned; it keeps the verdicts that it has"));
    }
    ASSAY_ASSIGN_OR_RETURN(const profiler::JudgeOptions options,
                           known_options(store, request, experiment, configuration, now_ns));
    const v1::Verdict verdict = profiler::judge(configuration, options);
    response.set_num_judged(response.num_judged() + 1);
    if (says_the_same(verdict, configuration.verdicts(configuration.verdicts_size() - 1))) {
      continue;
    }
    ASSAY_RETURN_IF_ERROR(
        store.add_verdict(experiment.experiment_id(), configuration.configuration(), verdict));
    response.set_num_added(response.num_added() + 1);
  }
  get.set_include_samples(false);
  get.set_configuration(0);
  ASSAY_ASSIGN_OR_RETURN(*response.mutable_experiment(), store.get(get));
  return response;
}

}  // namespace assay::server
