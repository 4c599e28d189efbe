#include "client/progress.h"

#include "client/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::client {
namespace {

std::string work_text(const v1::Experiment& experiment) {
  return absl::StrCat(with_commas(experiment.num_finished()),
                      " of ",
                      with_commas(experiment.num_configurations()),
                      " configurations");
}

// Between the queue and the device an experiment has no position.
std::string queue_text(const v1::Experiment& experiment) {
  return experiment.queue_position() == 0
             ? "queued, next"
             : absl::StrCat("queued, position ", experiment.queue_position());
}

std::string left_text(const v1::Experiment& experiment) {
  return experiment.estimate_ns() > 0
             ? absl::StrCat(", about ", duration_text(experiment.estimate_ns()), " left")
             : "";
}

// What holds a running experiment up: another one, or a full disk.
std::string waiting_text(const v1::Experiment& experiment) {
  return experiment.state() == v1::RUNNING && !experiment.message().empty()
             ? absl::StrCat(", ", one_line(experiment.message()))
             : "";
}

}  // namespace

std::string progress_text(const v1::Experiment& experiment) {
  const std::string state = proto::spoken(v1::TaskState_Name(experiment.state()));
  if (experiment.state() == v1::QUEUED) {
    return absl::StrCat("experiment ",
                        experiment.experiment_id(),
                        ": ",
                        queue_text(experiment),
                        left_text(experiment));
  }
  return absl::StrCat("experiment ",
                      experiment.experiment_id(),
                      ": ",
                      state,
                      ", ",
                      work_text(experiment),
                      experiment.state() == v1::RUNNING ? left_text(experiment) : "",
                      waiting_text(experiment));
}

std::string progress_bar(const v1::Experiment& experiment) {
  constexpr int kWidth = 20;
  const double num_done = experiment.num_finished() + std::clamp(experiment.progress(), 0.0, 1.0);
  const double share =
      std::clamp(num_done / std::max(1U, experiment.num_configurations()), 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(share * kWidth);
  const std::string tail =
      experiment.state() == v1::QUEUED ? queue_text(experiment) : work_text(experiment);
  return absl::StrCat("[",
                      std::string(filled, '#'),
                      std::string(kWidth - filled, '.'),
                      "] ",
                      tail,
                      left_text(experiment),
                      waiting_text(experiment));
}

Progress::~Progress() {
  // The bar leaves no trace above the table.
  if (is_terminal_ && !shown_.empty()) {
    out_ << "\r\033[K" << std::flush;
  }
}

void Progress::show(const v1::Experiment& experiment) {
  if (is_terminal_) {
    shown_ = progress_bar(experiment);
    out_ << "\r\033[K" << shown_ << std::flush;
    return;
  }
  const std::string key = absl::StrCat(static_cast<int>(experiment.state()),
                                       "/",
                                       experiment.queue_position(),
                                       "/",
                                       experiment.num_finished(),
                                       waiting_text(experiment));
  if (key != shown_) {
    shown_ = key;
    out_ << progress_text(experiment) << "\n" << std::flush;
  }
}

}  // namespace assay::client
