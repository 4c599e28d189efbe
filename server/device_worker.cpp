#include "server/device_worker.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/config.h"
#include "server/log.h"
#include "server/lookup.h"
#include "server/points.h"
#include "server/public_status.h"
#include "server/tuning_table.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kRetryInterval{1'000};

// A race that has begun keeps its beginning, whatever was found best since.
void keep_starts(const v1::Experiment& experiment,
                 const Plan& plan,
                 std::vector<std::optional<v1::Arm>>& starts) {
  for (std::uint32_t index = 0; index < plan.num_workloads(); ++index) {
    const std::string workload = proto::text_of(plan.workload(index));
    const auto first =
        std::ranges::find_if(experiment.configurations(), [&](const v1::Configuration& stored) {
          return proto::text_of(stored.workload()) == workload;
        });
    if (first != experiment.configurations().end()) {
      starts[index] = first->candidate_arm();
    }
  }
}

}  // namespace

DeviceWorker::DeviceWorker(const v1::DeviceConfig& config,
                           const RunnerSetup& setup,
                           Services services)
    : device_(config.name()),
      services_(std::move(services)),
      runner_(runner_arguments(config, setup.runner, setup.flags),
              std::chrono::nanoseconds(config.start_timeout_ns()),
              setup.modules),
      sources_(*services_.store) {}

void DeviceWorker::join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

void DeviceWorker::start() {
  thread_ = std::thread([this] { work(); });
}

void DeviceWorker::work() {
  while (true) {
    const Board::Job job = services_.board->next_job(device_);
    switch (job.kind) {
      case Board::Job::Kind::kProbe:
        static_cast<void>(prepare_runner(""));
        services_.on_idle();
        break;
      case Board::Job::Kind::kExperiment:
        execute(job.experiment_id);
        services_.board->end(job.experiment_id);
        services_.on_idle();
        break;
      case Board::Job::Kind::kStop:
        // The runner dies with this thread in any case; here it may end by itself.
        if (const absl::Status ended = runner_.stop(); !ended.ok()) {
          log_line("runner", {{"device", device_}, {"error", std::string(ended.message())}});
        }
        return;
    }
  }
}

absl::Status DeviceWorker::prepare_runner(const std::string& module) {
  absl::Status ready = runner_.ensure(module);
  services_.board->set_restarts(device_, runner_.num_restarts(), runner_.last_failure());
  if (!ready.ok()) {
    log_line("runner", {{"device", device_}, {"error", std::string(ready.message())}});
    if (!module.empty()) {
      static_cast<void>(show_ceilings());
      return ready;
    }
    services_.board->set_unavailable(
        device_, absl::StrCat("its runner does not start: ", std::string(ready.message())));
    return ready;
  }
  return show_ceilings();
}

// The device as it is shown, and stored with an experiment, has what its newest BENCH measured.
absl::Status DeviceWorker::show_ceilings() {
  description_ = runner_.description();
  description_.device.set_name(device_);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Ceiling> ceilings,
                         services_.store->ceilings(description_.device.uuid()));
  description_.device.mutable_ceilings()->Assign(ceilings.begin(), ceilings.end());
  services_.board->set_described(device_, description_);
  return absl::OkStatus();
}

void DeviceWorker::execute(std::int64_t experiment_id) {
  const auto [state, message] = carry_out(experiment_id);
  log_line("experiment",
           {{"id", absl::StrCat(experiment_id)},
            {"state", v1::TaskState_Name(state)},
            {"message", message}});
  // Without this mark the experiment would read as running: a full disk is waited for.
  while (true) {
    const absl::Status finished =
        services_.store->finish(experiment_id, state, message, services_.now_ns());
    const bool final = finished.code() == absl::StatusCode::kFailedPrecondition ||
                       finished.code() == absl::StatusCode::kNotFound;
    if (finished.ok() || final || services_.board->closed()) {
      return;
    }
    log_line("store",
             {{"finish", absl::StrCat(experiment_id)}, {"error", std::string(finished.message())}});
    services_.board->set_waiting(experiment_id,
                                 absl::StrCat("its end is not stored yet: ",
                                              std::string(public_status(finished).message())));
    std::this_thread::sleep_for(kRetryInterval);
  }
}

absl::StatusOr<Plan> DeviceWorker::plan_of(const v1::Experiment& experiment) {
  ASSAY_ASSIGN_OR_RETURN(const Description description,
                         with_source(description_, experiment.spec(), *services_.store));
  ASSAY_ASSIGN_OR_RETURN(Plan plan, make_plan(experiment.spec(), description));
  if (plan.num_configurations() != experiment.num_configurations()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the runner now makes ",
                     plan.num_configurations(),
                     " configurations of it, when it was submitted there were ",
                     experiment.num_configurations()));
  }
  return plan;
}

std::pair<v1::TaskState, std::string> DeviceWorker::carry_out(std::int64_t experiment_id) {
  const auto failed = [&](const absl::Status& status) {
    log_line("experiment", {{"id", absl::StrCat(experiment_id)}, {"error", status.ToString()}});
    return std::pair(v1::FAILED, std::string(public_status(status).message()));
  };
  const auto interrupted = [&]() -> std::pair<v1::TaskState, std::string> {
    if (services_.board->cancel_asked(experiment_id)) {
      return {v1::CANCELLED, "cancelled on request"};
    }
    return {v1::INTERRUPTED, "the daemon was stopped"};
  };
  v1::GetRequest get;
  get.set_experiment_id(experiment_id);
  const auto experiment = services_.store->get(get);
  if (!experiment.ok()) {
    return failed(experiment.status());
  }
  const auto* known = find_named(description_.operators, experiment->spec().operator_name());
  const std::string module = known == nullptr ? "" : known->module();
  if (const absl::Status ready = prepare_runner(module); !ready.ok()) {
    return services_.board->closed() || services_.board->cancel_asked(experiment_id)
               ? interrupted()
               : failed(proto::annotate(ready, "the runner does not start"));
  }
  const auto plan = plan_of(*experiment);
  if (!plan.ok()) {
    return failed(plan.status());
  }
  if (const absl::Status started =
          services_.store->start(experiment_id, description_.device, services_.now_ns());
      !started.ok()) {
    return failed(started);
  }
  const absl::StatusOr<std::string> run =
      plan->spec().kind() == v1::SWEEP ? sweep(*experiment, *plan) : run_all(experiment_id, *plan);
  if (run.status().code() == absl::StatusCode::kCancelled) {
    return interrupted();
  }
  return run.ok() ? std::pair(v1::DONE, *run) : failed(run.status());
}

absl::StatusOr<std::string> DeviceWorker::run_all(std::int64_t experiment_id, const Plan& plan) {
  for (std::uint32_t number = 1; number <= plan.num_configurations(); ++number) {
    ASSAY_RETURN_IF_ERROR(run_one(experiment_id, plan, plan.configuration(number), {}).status());
  }
  return std::string();
}

absl::StatusOr<std::string> DeviceWorker::sweep(const v1::Experiment& experiment,
                                                const Plan& plan) {
  const std::int64_t experiment_id = experiment.experiment_id();
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::optional<v1::Arm>> starts,
                         stored_winners(*services_.store, plan, description_.device));
  keep_starts(experiment, plan, starts);
  Sweep sweep(plan, std::move(starts));
  for (const v1::Configuration& stored : experiment.configurations()) {
    ASSAY_RETURN_IF_ERROR(sweep.tell(stored));
    ASSAY_RETURN_IF_ERROR(end_race(experiment, sweep));
  }
  while (true) {
    while (const auto other = services_.board->take_before_sweep(device_)) {
      execute(*other);
      services_.board->end(*other);
      services_.on_idle();
    }
    ASSAY_ASSIGN_OR_RETURN(const std::optional<v1::Configuration> next, sweep.next());
    if (!next) {
      return sweep.untried_text();
    }
    ASSAY_ASSIGN_OR_RETURN(const v1::Configuration told,
                           run_one(experiment_id, plan, *next, {.may_drop = sweep.may_drop()}));
    ASSAY_RETURN_IF_ERROR(sweep.tell(told));
    ASSAY_RETURN_IF_ERROR(end_race(experiment, sweep));
  }
}

// Its winner goes into the tuning table.
absl::Status DeviceWorker::end_race(const v1::Experiment& experiment, Sweep& sweep) {
  const std::optional<Sweep::Ended> ended = sweep.take_ended();
  if (!ended) {
    return absl::OkStatus();
  }
  std::optional<v1::Tuning> tuning = tuning_of(*ended, experiment.spec(), description_.device);
  if (!tuning) {
    return absl::OkStatus();
  }
  tuning->set_experiment_id(experiment.experiment_id());
  tuning->set_measured_ns(services_.now_ns());
  return services_.store->set_tuning(*tuning);
}

absl::StatusOr<v1::Configuration> DeviceWorker::try_one(std::int64_t experiment_id,
                                                        const Plan& plan,
                                                        v1::Configuration configuration,
                                                        const RunFlags& flags) {
  const std::uint32_t number = configuration.configuration();
  services_.board->set_progress(experiment_id, number - 1, 0);
  const auto stopped = [&] {
    return services_.board->closed() || services_.board->cancel_asked(experiment_id);
  };
  const absl::Status ready = prepare_runner(plan.operator_info().module());
  if (stopped()) {
    return absl::CancelledError("stopped between configurations");
  }
  ASSAY_RETURN_IF_ERROR(ready);
  const RunContext context = {.experiment_id = experiment_id,
                              .device = &description_.device,
                              .store = services_.store,
                              .goldens = services_.goldens,
                              .now_ns = services_.now_ns,
                              .progress =
                                  [&](double share) {
                                    services_.board->set_progress(
                                        experiment_id, number - 1, std::clamp(share, 0.0, 1.0));
                                  },
                              .may_drop = flags.may_drop};
  const auto ask = [this](v1::RunnerRequest request,
                          std::chrono::nanoseconds timeout,
                          const RunnerProcess::Progress& progress) {
    return runner_.call(std::move(request), timeout, progress);
  };
  // Making room for a module's runner is no restart, and another host may use a pid again.
  const std::uint64_t process = std::uint64_t{runner_.num_restarts()} << 32 | runner_.pid();
  const RunnerCall call = sources_.feeding(plan.spec(), process, ask);
  auto run = run_configuration(plan, std::move(configuration), call, context);
  const bool sound = run.ok() && run->runner_is_sound;
  if (!sound) {
    const std::string failure =
        run.ok() ? run->configuration.message() : std::string(run.status().message());
    ASSAY_RETURN_IF_ERROR(runner_.discard(failure));
    services_.board->set_restarts(device_, runner_.num_restarts(), failure);
    if (run.ok() && !run->cancelled && !plan.operator_info().module().empty()) {
      runner_.quarantine(failure);
      ASSAY_RETURN_IF_ERROR(show_ceilings());
    }
  }
  ASSAY_RETURN_IF_ERROR(run.status());
  if (run->cancelled) {
    return absl::CancelledError("the runner was killed on request");
  }
  ASSAY_RETURN_IF_ERROR(services_.store->add_measured(
      experiment_id,
      run->configuration,
      points_of(plan.spec(), description_.device, run->configuration)));
  if (plan.spec().kind() == v1::BENCH) {
    ASSAY_RETURN_IF_ERROR(show_ceilings());
  }
  if (run->noise_floor) {
    ASSAY_RETURN_IF_ERROR(services_.store->set_noise_floor(*run->noise_floor));
  }
  return std::move(run->configuration);
}

absl::StatusOr<v1::Configuration> DeviceWorker::run_one(std::int64_t experiment_id,
                                                        const Plan& plan,
                                                        v1::Configuration configuration,
                                                        const RunFlags& flags) {
  const std::uint32_t number = configuration.configuration();
  auto run = try_one(experiment_id, plan, std::move(configuration), flags);
  return run.ok() ? std::move(run)
                  : proto::annotate(run.status(), absl::StrCat("configuration ", number));
}

}  // namespace assay::server
