#include "server/sweep.h"

#include "proto/numbers.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <string>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

v1::Measurement without_samples(v1::Measurement measurement) {
  measurement.clear_blocks();
  measurement.clear_stages();
  measurement.clear_event_stages();
  measurement.clear_activity_stages();
  measurement.clear_traced_blocks();
  return measurement;
}

}  // namespace

Sweep::Sweep(const Plan& plan, std::vector<std::optional<v1::Arm>> starts)
    : plan_(plan), starts_(std::move(starts)) {}

void Sweep::begin_workload() {
  race_ = tuning::Race();
  winner_.Clear();
  strategy_.reset();
  tried_.assign(plan_.points(workload_).size(), false);
  num_tried_ = 0;
  elapsed_ns_ = 0;
}

bool Sweep::is_budget_spent() const {
  const std::int64_t budget_ns = plan_.spec().sweep().budget_ns();
  return budget_ns > 0 && elapsed_ns_ >= budget_ns;
}

bool Sweep::is_over() const {
  return num_tried_ >= plan_.most_tried(workload_) || is_budget_spent();
}

void Sweep::end_workload(const v1::Workload& workload) {
  const std::size_t num_valid = plan_.points(workload_).size();
  left_.num_valid += num_valid;
  (num_tried_ < plan_.most_tried(workload_) ? left_.num_by_budget : left_.num_by_limit) +=
      num_valid - num_tried_;
  ended_ = Ended{.workload = workload,
                 .result = race_.result(),
                 .winner = winner_,
                 .num_valid = static_cast<std::uint32_t>(num_valid)};
  ++workload_;
  if (workload_ < plan_.num_workloads()) {
    begin_workload();
  }
}

std::optional<std::size_t> Sweep::starting_point() const {
  const tuning::PointSet& points = plan_.points(workload_);
  std::vector<std::string> wanted;
  if (workload_ < starts_.size() && starts_[workload_]) {
    wanted.push_back(proto::text_of(*starts_[workload_]));
  }
  wanted.push_back(proto::text_of(plan_.default_arm()));
  for (const std::string& text : wanted) {
    for (std::size_t point = 0; point < points.size(); ++point) {
      if (proto::text_of(plan_.sweep_arm(points[point])) == text) {
        return point;
      }
    }
  }
  return std::nullopt;
}

// The start is none of the strategy's: it is told of it when it asks for it itself.
absl::StatusOr<std::size_t> Sweep::choose() {
  if (num_tried_ == 0) {
    if (const auto start = starting_point()) {
      return *start;
    }
  }
  if (strategy_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(
        strategy_,
        tuning::make_strategy(
            plan_.spec().sweep().strategy(), plan_.points(workload_), plan_.spec().seed()));
  }
  while (const std::optional<std::size_t> point = strategy_->next()) {
    if (!tried_[*point]) {
      return *point;
    }
    strategy_->tell(*point, start_cost_);
  }
  return absl::InternalError("sweep: its strategy ended before its points did");
}

absl::StatusOr<std::optional<v1::Configuration>> Sweep::next() {
  if (next_) {
    return next_;
  }
  if (tried_.empty()) {
    begin_workload();
  }
  if (workload_ >= plan_.num_workloads()) {
    return std::optional<v1::Configuration>();
  }
  ASSAY_ASSIGN_OR_RETURN(point_, choose());
  v1::Configuration& configuration = next_.emplace();
  configuration.set_configuration(num_told_ + 1);
  *configuration.mutable_workload() = plan_.workload(workload_);
  *configuration.mutable_baseline_arm() =
      race_.incumbent() != nullptr ? *race_.incumbent() : plan_.baseline_arm();
  *configuration.mutable_candidate_arm() = plan_.sweep_arm(plan_.points(workload_)[*point_]);
  return next_;
}

absl::Status Sweep::tell(const v1::Configuration& configuration) {
  ASSAY_ASSIGN_OR_RETURN(const std::optional<v1::Configuration> wanted, next());
  const auto same_arms = [&] {
    return proto::text_of(configuration.baseline_arm()) == proto::text_of(wanted->baseline_arm()) &&
           proto::text_of(configuration.candidate_arm()) == proto::text_of(wanted->candidate_arm());
  };
  if (!wanted || configuration.configuration() != wanted->configuration() || !same_arms()) {
    return absl::FailedPreconditionError(
        absl::StrCat("configuration ",
                     configuration.configuration(),
                     " is not what this sweep would try now: its operator, its axes or its "
                     "strategy changed; submit it again"));
  }
  race_.add(configuration);
  if (race_.is_last_incumbent()) {
    winner_ = without_samples(configuration.candidate());
  }
  if (strategy_ == nullptr) {
    start_cost_ = race_.last_cost();
  } else {
    strategy_->tell(*point_, race_.last_cost());
  }
  tried_[*point_] = true;
  ++num_tried_;
  ++num_told_;
  elapsed_ns_ += configuration.elapsed_ns();
  next_.reset();
  if (is_over()) {
    end_workload(configuration.workload());
  }
  return absl::OkStatus();
}

std::optional<Sweep::Ended> Sweep::take_ended() {
  return std::exchange(ended_, std::nullopt);
}

std::string Sweep::untried_text() const {
  const v1::SweepSpec& asked = plan_.spec().sweep();
  const std::string each = plan_.num_workloads() > 1 ? " of each workload" : "";
  std::vector<std::string> reasons;
  if (left_.num_by_budget > 0) {
    reasons.push_back(absl::StrCat(
        "the budget of ", proto::duration_text(asked.budget_ns()), each, " was spent"));
  }
  if (left_.num_by_limit > 0) {
    reasons.push_back(absl::StrCat(
        "at most ", proto::with_commas(asked.max_configurations()), each, " were asked for"));
  }
  return reasons.empty()
             ? ""
             : absl::StrCat(
                   proto::with_commas(
                       static_cast<std::int64_t>(left_.num_by_budget + left_.num_by_limit)),
                   " of ",
                   proto::counted(static_cast<std::int64_t>(left_.num_valid), "configuration"),
                   " not tried: ",
                   absl::StrJoin(reasons, "; "));
}

}  // namespace assay::server
