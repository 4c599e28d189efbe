#include "server/history_keeper.h"

#include "proto/status.h"
#include "server/log.h"
#include "server/points.h"
#include "server/regressions.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

// A batch between two looks at whether the daemon ends.
constexpr std::uint32_t kBatch = 100;

// Stages of one arm are measured by one run.
std::string measured_together(const v1::Regression& regression) {
  const v1::Series& series = regression.series();
  return absl::StrCat(regression.experiment_id(),
                      " ",
                      series.device_uuid(),
                      " ",
                      series.workload(),
                      " ",
                      series.arm(),
                      " ",
                      static_cast<int>(series.cache_mode()),
                      " ",
                      static_cast<int>(series.launch_mode()),
                      " ",
                      static_cast<int>(series.timing_source()));
}

bool is_idle(const v1::Device& device) {
  return device.available() && device.queue_length() == 0 && device.running_experiment_id() == 0;
}

// Every device that may still turn out to be the one has said what it is.
bool all_known(const v1::ListDevicesResponse& devices) {
  return std::ranges::all_of(devices.devices(), &v1::Device::available);
}

bool has_ended(const v1::Experiment& experiment) {
  return experiment.state() != v1::QUEUED && experiment.state() != v1::RUNNING;
}

}  // namespace

HistoryKeeper::HistoryKeeper(Services services) : services_(std::move(services)) {}

void HistoryKeeper::start() {
  thread_ = std::thread([this] { work(); });
}

void HistoryKeeper::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void HistoryKeeper::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  settled_ = false;
  changed_.notify_all();
}

bool HistoryKeeper::stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

bool HistoryKeeper::wait_until_settled(std::chrono::milliseconds bound) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, bound, [this] { return settled_; });
}

void HistoryKeeper::work() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || woken_; });
      if (stopping_) {
        return;
      }
      woken_ = false;
    }
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more && !stopping()) {
      more = step();
    }
    if (!more.ok()) {
      // A full disk, or a daemon that ends: tried again when something happens next.
      log_line("history", {{"error", std::string(more.status().message())}});
    }
    const std::lock_guard lock(mutex_);
    settled_ = !woken_;
    changed_.notify_all();
  }
}

// A series is looked at when all of its points are there, and confirmed when it was looked at.
absl::StatusOr<bool> HistoryKeeper::step() {
  ASSAY_ASSIGN_OR_RETURN(const bool filled, fill_in());
  if (filled) {
    return true;
  }
  ASSAY_ASSIGN_OR_RETURN(const bool looked, look());
  return looked ? true : confirm();
}

absl::StatusOr<bool> HistoryKeeper::fill_in() {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<db::ConfigurationKey> pending,
                         services_.store->pending_points(kBatch));
  for (const db::ConfigurationKey& key : pending) {
    if (stopping()) {
      return false;
    }
    ASSAY_RETURN_IF_ERROR(fill_in(key));
  }
  return !pending.empty();
}

absl::Status HistoryKeeper::fill_in(const db::ConfigurationKey& key) {
  v1::GetRequest get;
  get.set_experiment_id(key.experiment_id);
  get.set_configuration(key.configuration);
  get.set_include_samples(true);
  const absl::StatusOr<v1::Experiment> experiment = services_.store->get(get);
  if (absl::IsNotFound(experiment.status())) {
    return absl::OkStatus();  // removed meanwhile
  }
  std::vector<db::SeriesEntry> points;
  if (absl::IsDataLoss(experiment.status())) {
    log_line("history",
             {{"id", absl::StrCat(key.experiment_id)},
              {"error", std::string(experiment.status().message())}});
  } else {
    ASSAY_RETURN_IF_ERROR(experiment.status());
    points = points_of(experiment->spec(), experiment->device(), experiment->configurations(0));
  }
  return services_.store->add_points(key, points);
}

absl::StatusOr<bool> HistoryKeeper::look() {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> stale,
                         services_.store->stale_series(kBatch));
  for (const std::int64_t series_id : stale) {
    if (stopping()) {
      return false;
    }
    const std::lock_guard lock(regressions_);
    const absl::Status looked = look_again(*services_.store, series_id, services_.now_ns());
    if (absl::IsInvalidArgument(looked)) {
      log_line("history",
               {{"series", absl::StrCat(series_id)}, {"error", std::string(looked.message())}});
      ASSAY_RETURN_IF_ERROR(pass_over(*services_.store, series_id));
    } else {
      ASSAY_RETURN_IF_ERROR(looked);
    }
  }
  return !stale.empty();
}

absl::StatusOr<bool> HistoryKeeper::confirm() {
  const std::lock_guard lock(regressions_);
  v1::ListRegressionsRequest request;
  request.set_state(v1::DETECTED);
  request.set_page_size(kBatch);
  Reruns reruns;
  bool any = false;
  do {
    ASSAY_ASSIGN_OR_RETURN(const v1::ListRegressionsResponse page,
                           services_.store->list_regressions(request));
    for (const v1::Regression& regression : page.regressions()) {
      ASSAY_ASSIGN_OR_RETURN(const bool changed, confirm(regression, reruns));
      any = any || changed;
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return any;
}

absl::StatusOr<bool> HistoryKeeper::confirm(v1::Regression regression, Reruns& reruns) {
  if (regression.confirmation_experiment_id() == 0) {
    return run_again(std::move(regression), reruns);
  }
  v1::GetRequest get;
  get.set_experiment_id(regression.confirmation_experiment_id());
  const absl::StatusOr<v1::Experiment> rerun = services_.store->get(get);
  if (absl::IsNotFound(rerun.status())) {
    give_up("the run again is no longer stored", services_.now_ns(), regression);
    ASSAY_RETURN_IF_ERROR(services_.store->set_regression(regression));
    return true;
  }
  ASSAY_RETURN_IF_ERROR(rerun.status());
  if (rerun->state() == v1::INTERRUPTED) {
    return run_again(std::move(regression), reruns);
  }
  // One that was decided stays detected where the run again left it open.
  if (!has_ended(*rerun) || regression.changed_ns() >= rerun->finished_ns()) {
    return false;
  }
  ASSAY_RETURN_IF_ERROR(decide(*services_.store, *rerun, services_.now_ns(), regression));
  ASSAY_RETURN_IF_ERROR(services_.store->set_regression(regression));
  return true;
}

absl::StatusOr<bool> HistoryKeeper::run_again(v1::Regression regression, Reruns& reruns) {
  if (!services_.confirms) {
    return false;
  }
  const std::string together = measured_together(regression);
  if (const auto rerun = reruns.find(together); rerun != reruns.end()) {
    regression.set_confirmation_experiment_id(rerun->second);
    ASSAY_RETURN_IF_ERROR(services_.store->set_regression(regression));
    return true;
  }
  const v1::ListDevicesResponse devices = services_.devices();
  const auto device =
      std::ranges::find(devices.devices(), regression.series().device_uuid(), &v1::Device::uuid);
  if (device == devices.devices().end()) {
    if (!all_known(devices)) {
      return false;
    }
    give_up("its device is not here", services_.now_ns(), regression);
    ASSAY_RETURN_IF_ERROR(services_.store->set_regression(regression));
    return true;
  }
  if (!is_idle(*device)) {
    return false;
  }
  const absl::StatusOr<v1::SubmitRequest> request =
      confirmation_of(*services_.store, regression, device->name());
  const absl::StatusOr<v1::Experiment> rerun =
      request.ok() ? services_.submit(*request) : request.status();
  if (absl::IsUnavailable(rerun.status()) || absl::IsDeadlineExceeded(rerun.status()) ||
      absl::IsResourceExhausted(rerun.status())) {
    return rerun.status();
  }
  if (!rerun.ok()) {
    give_up(std::string(rerun.status().message()), services_.now_ns(), regression);
  } else {
    regression.set_confirmation_experiment_id(rerun->experiment_id());
    reruns[together] = rerun->experiment_id();
  }
  ASSAY_RETURN_IF_ERROR(services_.store->set_regression(regression));
  return true;
}

absl::StatusOr<v1::Regression> HistoryKeeper::acknowledge(const v1::AcknowledgeRequest& request) {
  const std::lock_guard lock(regressions_);
  return server::acknowledge(*services_.store, request, services_.now_ns());
}

}  // namespace assay::server
