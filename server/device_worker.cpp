#include "server/device_worker.h"

#include "proto/status.h"
#include "server/config.h"
#include "server/log.h"
#include "server/public_status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kRetryInterval{1'000};

}  // namespace

DeviceWorker::DeviceWorker(const v1::DeviceConfig& config,
                           const std::string& runner,
                           Services services)
    : device_(config.name()),
      services_(std::move(services)),
      runner_(runner_arguments(config, runner),
              std::chrono::nanoseconds(config.start_timeout_ns())) {}

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
        static_cast<void>(prepare_runner());
        break;
      case Board::Job::Kind::kExperiment:
        execute(job.experiment_id);
        services_.board->end(job.experiment_id);
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

absl::Status DeviceWorker::prepare_runner() {
  const std::uint32_t restarts_before = runner_.num_restarts();
  const bool first = description_.operators.empty();
  absl::Status ready = runner_.ensure();
  services_.board->set_restarts(device_, runner_.num_restarts(), runner_.last_failure());
  if (!ready.ok()) {
    log_line("runner", {{"device", device_}, {"error", std::string(ready.message())}});
    services_.board->set_unavailable(
        device_, absl::StrCat("its runner does not start: ", std::string(ready.message())));
    return ready;
  }
  if (first || runner_.num_restarts() != restarts_before) {
    description_.device = runner_.hello().device();
    description_.operators = {runner_.hello().operators().begin(),
                              runner_.hello().operators().end()};
    description_.device.set_name(device_);
  }
  return show_ceilings();
}

// The device as it is shown, and stored with an experiment, has what its newest BENCH measured.
absl::Status DeviceWorker::show_ceilings() {
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
  ASSAY_ASSIGN_OR_RETURN(Plan plan, make_plan(experiment.spec(), description_));
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
  if (const absl::Status ready = prepare_runner(); !ready.ok()) {
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
  for (std::uint32_t number = 1; number <= plan->num_configurations(); ++number) {
    services_.board->set_progress(experiment_id, number - 1, 0);
    const absl::Status run = run_one(experiment_id, *plan, number);
    if (run.code() == absl::StatusCode::kCancelled) {
      return interrupted();
    }
    if (!run.ok()) {
      return failed(proto::annotate(run, absl::StrCat("configuration ", number)));
    }
  }
  return {v1::DONE, ""};
}

absl::Status DeviceWorker::run_one(std::int64_t experiment_id,
                                   const Plan& plan,
                                   std::uint32_t number) {
  const auto stopped = [&] {
    return services_.board->closed() || services_.board->cancel_asked(experiment_id);
  };
  const absl::Status ready = number == 1 ? absl::OkStatus() : prepare_runner();
  if (stopped()) {
    return absl::CancelledError("stopped between configurations");
  }
  ASSAY_RETURN_IF_ERROR(ready);
  const RunContext context = {.experiment_id = experiment_id,
                              .device = &description_.device,
                              .store = services_.store,
                              .goldens = services_.goldens,
                              .now_ns = services_.now_ns,
                              .progress = [&](double share) {
                                services_.board->set_progress(
                                    experiment_id, number - 1, std::clamp(share, 0.0, 1.0));
                              }};
  const RunnerCall call = [this](v1::RunnerRequest request,
                                 std::chrono::nanoseconds timeout,
                                 const RunnerProcess::Progress& progress) {
    return runner_.call(std::move(request), timeout, progress);
  };
  auto run = run_configuration(plan, number, call, context);
  const bool sound = run.ok() && run->runner_is_sound;
  if (!sound) {
    const std::string failure =
        run.ok() ? run->configuration.message() : std::string(run.status().message());
    ASSAY_RETURN_IF_ERROR(runner_.discard(failure));
    services_.board->set_restarts(device_, runner_.num_restarts(), failure);
  }
  ASSAY_RETURN_IF_ERROR(run.status());
  if (run->cancelled) {
    return absl::CancelledError("the runner was killed on request");
  }
  ASSAY_RETURN_IF_ERROR(services_.store->add_configuration(experiment_id, run->configuration));
  if (plan.spec().kind() == v1::BENCH) {
    ASSAY_RETURN_IF_ERROR(show_ceilings());
  }
  return run->noise_floor ? services_.store->set_noise_floor(*run->noise_floor) : absl::OkStatus();
}

}  // namespace assay::server
