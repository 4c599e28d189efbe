#include "server/scheduler.h"

#include "proto/status.h"
#include "server/bits.h"
#include "server/judging.h"
#include "server/lookup.h"
#include "server/receipt.h"
#include "server/source.h"
#include "server/trends.h"
#include "server/tuning_table.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

namespace assay::server {
namespace {

// The version of one that is not final and not alive here: just stored, or left by a full disk.
constexpr std::uint64_t kElsewhere = std::numeric_limits<std::uint64_t>::max();
constexpr std::chrono::milliseconds kElsewhereInterval{100};

std::vector<v1::Device> devices_of(const v1::DaemonConfig& config) {
  std::vector<v1::Device> devices;
  for (const v1::DeviceConfig& configured : config.devices()) {
    v1::Device& device = devices.emplace_back();
    device.set_name(configured.name());
    device.set_backend(configured.backend() == "cpu" ? "cpu" : "cuda");
    *device.mutable_launch_prefix() = configured.launch_prefix();
  }
  return devices;
}

}  // namespace

bool is_final(v1::TaskState state) {
  return state != v1::QUEUED && state != v1::RUNNING;
}

Scheduler::Scheduler(db::Store& store, const Goldens& goldens, const SchedulerOptions& options)
    : store_(store),
      goldens_(goldens),
      archive_(store, options.now_ns),
      recordings_(store, options.now_ns),
      queries_(store),
      now_ns_(options.now_ns),
      board_(devices_of(options.config)),
      validator_(options.runner),
      uploads_(store, options.max_upload_bytes, options.now_ns),
      history_({.store = &store,
                .now_ns = options.now_ns,
                .devices = [this] { return board_.devices(Deadline::min()); },
                .submit =
                    [this](const v1::SubmitRequest& request) {
                      return enqueue(request, Deadline::clock::now() + kDescribeBound);
                    },
                .confirms = options.confirms}) {
  for (const v1::DeviceConfig& device : options.config.devices()) {
    workers_.push_back(std::make_unique<DeviceWorker>(
        device,
        DeviceWorker::RunnerSetup{
            .runner = options.runner, .flags = options.runner_flags, .modules = options.modules},
        DeviceWorker::Services{.store = &store,
                               .goldens = &goldens,
                               .board = &board_,
                               .now_ns = options.now_ns,
                               .on_idle = [this] { history_.wake(); }}));
  }
}

Scheduler::~Scheduler() {
  stop();
}

absl::Status Scheduler::start() {
  ASSAY_RETURN_IF_ERROR(store_.interrupt_running(now_ns_()).status());
  ASSAY_RETURN_IF_ERROR(take_up_queue());
  for (const auto& worker : workers_) {
    worker->start();
  }
  started_ = true;
  history_.start();
  return absl::OkStatus();
}

absl::Status Scheduler::health() const {
  if (!started_ || board_.closed()) {
    return absl::UnavailableError(started_ ? "the scheduler has stopped"
                                           : "the scheduler has not started");
  }
  ASSAY_RETURN_IF_ERROR(store_.check_file());
  return figures().status();
}

absl::Status Scheduler::take_up_queue() {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Experiment> queued, store_.queued());
  for (const v1::Experiment& experiment : queued) {
    const std::string& device = experiment.spec().device();
    if (!board_.has_device(device)) {
      const std::string why = absl::StrCat("device `", device, "` is no longer configured");
      ASSAY_RETURN_IF_ERROR(store_.finish(experiment.experiment_id(), v1::FAILED, why, now_ns_()));
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t typical_ns,
                           store_.typical_configuration_ns(experiment.spec()));
    board_.enqueue(experiment, typical_ns);
  }
  return absl::OkStatus();
}

void Scheduler::stop() {
  board_.close();
  validator_.close();
  for (const auto& worker : workers_) {
    worker->close_runner();
  }
  for (const auto& worker : workers_) {
    worker->join();
  }
  history_.stop();
}

absl::StatusOr<Description> Scheduler::describe_at(const std::string& path,
                                                   const std::string& device,
                                                   Deadline deadline) {
  if (!board_.has_device(device)) {
    return absl::NotFoundError(
        absl::StrCat(path, ": no device `", device, "`; it is ", one_of(board_.device_names())));
  }
  return board_.describe(device, std::min(deadline, Deadline::clock::now() + kDescribeBound));
}

v1::ListDevicesResponse Scheduler::devices(Deadline deadline) const {
  return board_.devices(std::min(deadline, Deadline::clock::now() + kDescribeBound));
}

absl::StatusOr<Description> Scheduler::describe(const std::string& device, Deadline deadline) {
  if (!device.empty()) {
    return describe_at("device", device, deadline);
  }
  // Devices that are still starting are waited for in the configuration's order.
  absl::Status last = absl::FailedPreconditionError("no device is configured");
  for (const std::string& name : board_.device_names()) {
    auto description = describe_at("device", name, deadline);
    if (description.ok()) {
      return description;
    }
    last = description.status();
  }
  return last;
}

absl::StatusOr<v1::Experiment> Scheduler::submit(const v1::SubmitRequest& request,
                                                 Deadline deadline) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  return enqueue(request, deadline);
}

absl::StatusOr<v1::Experiment> Scheduler::enqueue(const v1::SubmitRequest& request,
                                                  Deadline deadline) {
  const v1::ExperimentSpec& spec = request.spec();
  ASSAY_ASSIGN_OR_RETURN(const Description known,
                         describe_at("spec.device", spec.device(), deadline));
  ASSAY_ASSIGN_OR_RETURN(const Description description, with_source(known, spec, store_));
  ASSAY_ASSIGN_OR_RETURN(const Plan plan, make_plan(spec, description));
  // The validator's runner knows the catalogue alone.
  if (spec.source_digest().empty()) {
    ASSAY_RETURN_IF_ERROR(validator_.validate(plan));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t typical_ns, store_.typical_configuration_ns(spec));
  v1::Experiment experiment;
  {
    const std::lock_guard lock(submitting_);
    ASSAY_ASSIGN_OR_RETURN(experiment,
                           store_.submit(request, plan.num_configurations(), now_ns_()));
    if (experiment.state() == v1::QUEUED) {
      board_.enqueue(experiment, typical_ns);
    }
  }
  board_.overlay(experiment);
  return experiment;
}

absl::StatusOr<v1::Experiment> Scheduler::get(const v1::GetRequest& request) const {
  ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, store_.get(request));
  board_.overlay(experiment);
  return experiment;
}

absl::StatusOr<v1::ListResponse> Scheduler::list(const v1::ListRequest& request) const {
  ASSAY_ASSIGN_OR_RETURN(v1::ListResponse response, store_.list(request));
  for (v1::Experiment& experiment : *response.mutable_experiments()) {
    board_.overlay(experiment);
  }
  return response;
}

absl::StatusOr<v1::Experiment> Scheduler::cancel(std::int64_t experiment_id) {
  v1::GetRequest get_request;
  get_request.set_experiment_id(experiment_id);
  ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, store_.get(get_request));
  const std::int64_t id = experiment.experiment_id();
  get_request.set_experiment_id(id);
  if (board_.take_from_queue(id)) {
    const absl::Status finished =
        store_.finish(id, v1::CANCELLED, "cancelled on request", now_ns_());
    if (!finished.ok()) {
      board_.put_back(id);
      return finished;
    }
    board_.end(id);
    return store_.get(get_request);
  }
  if (const std::optional<std::string> device = board_.ask_to_cancel(id)) {
    for (const auto& worker : workers_) {
      if (worker->device() == *device) {
        worker->kill_runner();
      }
    }
    board_.wait_for_end(id, kCancelBound);
  }
  return get(get_request);
}

absl::StatusOr<Scheduler::Update> Scheduler::next_state(std::int64_t experiment_id,
                                                        std::uint64_t seen,
                                                        std::chrono::milliseconds bound) const {
  if (experiment_id == 0) {
    ASSAY_ASSIGN_OR_RETURN(const v1::Experiment newest, store_.get(v1::GetRequest()));
    experiment_id = newest.experiment_id();
  }
  const Board::Change change = board_.wait_for_change(experiment_id, seen, bound);
  if (change.live && !change.closed && seen != 0 && change.version == seen) {
    return Update{.version = seen};
  }
  v1::GetRequest request;
  request.set_experiment_id(experiment_id);
  Update update = {.version = change.version, .changed = true};
  ASSAY_ASSIGN_OR_RETURN(update.experiment, get(request));
  update.final = is_final(update.experiment.state());
  if (!update.final && change.closed) {
    return absl::UnavailableError("the daemon is stopping");
  }
  if (!update.final && !change.live) {
    std::this_thread::sleep_for(std::min(bound, kElsewhereInterval));
    update.version = kElsewhere;
    update.changed = seen != kElsewhere;
  }
  return update;
}

absl::StatusOr<v1::ReceiptResponse> Scheduler::receipt(const v1::ReceiptRequest& request) const {
  return make_receipt(store_, request);
}

absl::StatusOr<v1::VerifyReceiptResponse> Scheduler::verify_receipt(
    const v1::VerifyReceiptRequest& request) const {
  return server::verify_receipt(store_, request);
}

absl::StatusOr<v1::JudgeResponse> Scheduler::judge(const v1::JudgeRequest& request) {
  return judge_again(store_, request, now_ns_());
}

absl::StatusOr<v1::Experiment> Scheduler::resume(std::int64_t experiment_id) {
  v1::GetRequest get_request;
  get_request.set_experiment_id(experiment_id);
  ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, store_.get(get_request));
  get_request.set_experiment_id(experiment.experiment_id());
  const std::string& device = experiment.spec().device();
  if (!board_.has_device(device)) {
    return absl::FailedPreconditionError(
        absl::StrCat("device `", device, "` is no longer configured"));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t typical_ns,
                         store_.typical_configuration_ns(experiment.spec()));
  {
    const std::lock_guard lock(submitting_);
    ASSAY_RETURN_IF_ERROR(store_.resume(experiment.experiment_id()));
    ASSAY_ASSIGN_OR_RETURN(experiment, store_.get(get_request));
    board_.enqueue(experiment, typical_ns);
  }
  board_.overlay(experiment);
  return experiment;
}

absl::StatusOr<v1::LookupTuningResponse> Scheduler::lookup_tuning(
    const v1::LookupTuningRequest& request, Deadline deadline) {
  ASSAY_ASSIGN_OR_RETURN(const Description description, describe(request.device(), deadline));
  return server::lookup_tuning(store_, description, request);
}

absl::StatusOr<v1::ListTuningsResponse> Scheduler::tunings(const v1::ListTuningsRequest& request,
                                                           Deadline deadline) {
  ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Tuning> found, store_.tunings(request));
  const v1::ListDevicesResponse here = devices(deadline);
  v1::ListTuningsResponse response;
  for (v1::Tuning& tuning : found) {
    ASSAY_RETURN_IF_ERROR(mark_stale(store_, here, tuning));
    *response.add_tunings() = std::move(tuning);
  }
  return response;
}

absl::StatusOr<v1::TrendResponse> Scheduler::trend(const v1::TrendRequest& request) const {
  const std::optional<v1::OperatorInfo> info = board_.operator_info(request.operator_name());
  return server::trend(store_, request, info ? &*info : nullptr);
}

absl::StatusOr<v1::ListSeriesResponse> Scheduler::list_series(
    const v1::ListSeriesRequest& request) const {
  return store_.list_series(request);
}

absl::StatusOr<v1::ListRegressionsResponse> Scheduler::list_regressions(
    const v1::ListRegressionsRequest& request) const {
  return store_.list_regressions(request);
}

absl::StatusOr<v1::Regression> Scheduler::acknowledge(const v1::AcknowledgeRequest& request) {
  return history_.acknowledge(request);
}

absl::StatusOr<v1::BitHistoryResponse> Scheduler::bit_history(
    const v1::BitHistoryRequest& request) const {
  return store_.bit_history(request);
}

absl::StatusOr<v1::AcceptBitsResponse> Scheduler::accept_bits(const v1::AcceptBitsRequest& request,
                                                              Deadline deadline) {
  ASSAY_RETURN_IF_ERROR(check_accept(request));
  v1::GetRequest get_request;
  get_request.set_experiment_id(request.experiment_id());
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, store_.get(get_request));
  const v1::ExperimentSpec& spec = experiment.spec();
  ASSAY_ASSIGN_OR_RETURN(const Description known,
                         describe_at("experiment's device", spec.device(), deadline));
  ASSAY_ASSIGN_OR_RETURN(const Description description, with_source(known, spec, store_));
  const auto* info = find_named(description.operators, spec.operator_name());
  if (info == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("operator `", spec.operator_name(), "` is no longer there"));
  }
  return server::accept_bits(request, experiment, *info, goldens_, store_, now_ns_());
}

}  // namespace assay::server
