#include "server/http_watch.h"

#include "proto/status.h"
#include "server/http_answer.h"
#include "server/public_status.h"
#include "server/service.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kWaitBound{250};

std::string event(const std::string& name, const std::string& json) {
  return absl::StrCat("event: ", name, "\ndata: ", json, "\n\n");
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpWatch>> HttpWatch::open(Scheduler& scheduler, std::int64_t id) {
  if (id < 0) {
    return absl::InvalidArgumentError("experiment_id: must not be negative");
  }
  std::unique_ptr<HttpWatch> watch(new HttpWatch(scheduler, id));
  ASSAY_RETURN_IF_ERROR(watch->wait(kWaitBound));
  return watch;
}

absl::Status HttpWatch::wait(std::chrono::milliseconds bound) {
  ASSAY_ASSIGN_OR_RETURN(Scheduler::Update update, scheduler_.next_state(id_, seen_, bound));
  seen_ = update.version;
  over_ = update.final;
  if (update.changed) {
    // "The newest" is settled by the first state.
    id_ = update.experiment.experiment_id();
    if (update.experiment.ByteSizeLong() > static_cast<std::size_t>(kMaxMessageBytes)) {
      update.experiment.clear_configurations();
    }
    ASSAY_ASSIGN_OR_RETURN(const std::string json, to_json(update.experiment));
    absl::StrAppend(&text_, "data: ", json, "\n\n");
  }
  if (over_) {
    text_ += event("end", "{}");
  }
  return absl::OkStatus();
}

std::string HttpWatch::next() {
  if (text_.empty() && !over_) {
    const absl::Status waited = wait(kWaitBound);
    if (!waited.ok()) {
      over_ = true;
      text_ = event("failed", error_answer(public_status(waited)).body);
    }
  }
  const auto now = std::chrono::steady_clock::now();
  if (text_.empty() && now - last_ >= kHeartBeat) {
    text_ = ": nothing changed\n\n";
  }
  if (!text_.empty()) {
    last_ = now;
  }
  return std::exchange(text_, {});
}

}  // namespace assay::server
