#include "server/device_runner.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {

absl::Status DeviceRunner::ensure() {
  if (process_ != nullptr && !failed_ && process_->alive()) {
    return absl::OkStatus();
  }
  if (process_ != nullptr && !failed_) {
    last_failure_ = absl::StrCat("the idle runner ", process_->exit_reason());
  }
  ASSAY_RETURN_IF_ERROR(end());
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<RunnerProcess> fresh, RunnerProcess::spawn(arguments_));
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return absl::CancelledError("the daemon is stopping");
    }
    process_ = std::move(fresh);
    is_at_work_ = true;
  }
  num_restarts_ += started_once_ ? 1 : 0;
  started_once_ = true;
  failed_ = false;
  absl::Status greeted = process_->greet(start_timeout_);
  rest();
  if (!greeted.ok()) {
    last_failure_ = absl::StrCat("start: ", std::string(greeted.message()));
    failed_ = true;
    static_cast<void>(end());
  }
  return greeted;
}

absl::StatusOr<v1::RunnerReply> DeviceRunner::call(v1::RunnerRequest request,
                                                   std::chrono::nanoseconds timeout,
                                                   const RunnerProcess::Progress& progress) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) {
      return absl::CancelledError("the daemon is stopping");
    }
    is_at_work_ = true;
  }
  auto reply = process_->call(std::move(request), timeout, progress);
  rest();
  return reply;
}

void DeviceRunner::rest() {
  const std::lock_guard lock(mutex_);
  is_at_work_ = false;
}

absl::Status DeviceRunner::stop() {
  if (process_ != nullptr && !failed_) {
    process_->quit();
  }
  return discard("stopped");
}

absl::Status DeviceRunner::make_room() {
  if (process_ != nullptr && !failed_) {
    process_->quit();
  }
  ASSAY_RETURN_IF_ERROR(end());
  started_once_ = false;
  return absl::OkStatus();
}

absl::Status DeviceRunner::discard(const std::string& failure) {
  last_failure_ = failure;
  failed_ = true;
  return end();
}

absl::Status DeviceRunner::end() {
  if (process_ == nullptr) {
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(process_->end());
  // Its descriptors close outside of the lock; kill() must not wait for anything.
  std::unique_ptr<RunnerProcess> old;
  const std::lock_guard lock(mutex_);
  old = std::move(process_);
  return absl::OkStatus();
}

void DeviceRunner::kill() {
  const std::lock_guard lock(mutex_);
  if (process_ != nullptr) {
    process_->kill();
  }
}

void DeviceRunner::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (process_ != nullptr && is_at_work_) {
    process_->kill();
  }
}

}  // namespace assay::server
