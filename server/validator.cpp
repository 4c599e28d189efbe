#include "server/validator.h"

#include "server/log.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::seconds kStartTimeout{10};
constexpr std::chrono::seconds kAskTimeout{10};
constexpr std::uint32_t kWorkloadsPerRequest = 10'000;

}  // namespace

Validator::Validator(const std::string& runner)
    : enabled_(!runner.empty()), runner_({runner, "--device", "cpu"}, kStartTimeout) {
  if (enabled_) {
    thread_ = std::thread([this] { work(); });
  }
}

Validator::~Validator() {
  close();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Validator::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  runner_.close();
  changed_.notify_all();
}

absl::Status Validator::validate(const Plan& plan) {
  if (!plan.operator_info().module().empty()) {
    return absl::OkStatus();
  }
  if (!enabled_ || plan.spec().kind() == v1::CHECK || plan.spec().kind() == v1::BENCH) {
    return absl::OkStatus();
  }
  const std::lock_guard turn(turn_);
  std::unique_lock lock(mutex_);
  plan_ = &plan;
  done_ = false;
  changed_.notify_all();
  // The worker's own time limits bound this wait; it lends `plan` until it is done.
  changed_.wait(lock, [this] { return done_; });
  return std::exchange(answer_, absl::OkStatus());
}

void Validator::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return plan_ != nullptr || closed_; });
    if (plan_ == nullptr) {
      break;
    }
    const Plan& plan = *plan_;
    absl::Status answer = absl::UnavailableError("the daemon is stopping");
    if (!closed_) {
      lock.unlock();
      answer = ask(plan);
      lock.lock();
    }
    answer_ = std::move(answer);
    plan_ = nullptr;
    done_ = true;
    changed_.notify_all();
  }
  static_cast<void>(runner_.stop());
}

absl::Status Validator::ask(const Plan& plan) {
  absl::Status ready = runner_.ensure();
  for (std::uint32_t first = 0; ready.ok() && first < plan.num_workloads();
       first += kWorkloadsPerRequest) {
    v1::RunnerRequest request;
    request.mutable_validate()->set_operator_name(plan.spec().operator_name());
    const std::uint32_t last = std::min(first + kWorkloadsPerRequest, plan.num_workloads());
    for (std::uint32_t index = first; index < last; ++index) {
      *request.mutable_validate()->add_workloads() = plan.workload(index);
    }
    const auto reply = runner_.call(std::move(request), kAskTimeout, [](const auto&) {});
    if (!reply.ok()) {
      ready = reply.status();
      static_cast<void>(runner_.discard(std::string(ready.message())));
    } else if (reply->has_error()) {
      const v1::RunnerError& error = reply->error();
      if (error.refused()) {
        return {static_cast<absl::StatusCode>(error.code()),
                absl::StrCat("spec: ", error.message())};
      }
      ready = absl::UnavailableError(error.message());
      static_cast<void>(runner_.discard(error.message()));
    }
  }
  if (!ready.ok()) {
    log_line("validate", {{"skipped", std::string(ready.message())}});
  }
  return absl::OkStatus();
}

}  // namespace assay::server
