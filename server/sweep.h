// Which configuration of a SWEEP comes next: workload after workload, within one a race against
// the incumbent in the order of a strategy. A pure function of the plan, where each race begins and
// what it was told, so that a sweep goes on where it stood when it is told its past again.
#pragma once

#include "proto/assay.pb.h"
#include "server/plan.h"
#include "tuning/race.h"
#include "tuning/strategy.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::server {

class Sweep {
 public:
  // `starts`: of each workload the arm of the space that is tried first, a stored winner; without
  // one, or where the space does not have it, the variant's defaults, then the strategy's first.
  // `plan` must outlive it.
  Sweep(const Plan& plan, std::vector<std::optional<v1::Arm>> starts);

  // Number, workload and arms; nullopt: there is none left, or the budget of the last workload is
  // used. Asked again, it is the same one.
  absl::StatusOr<std::optional<v1::Configuration>> next();

  // Whether next() has an incumbent to be dropped against.
  bool may_drop() const { return race_.incumbent() != nullptr; }

  // What became of next(). FAILED_PRECONDITION: it is another configuration than that.
  absl::Status tell(const v1::Configuration& configuration);

  // The race that the last tell() ended.
  struct Ended {
    v1::Workload workload;
    tuning::RaceResult result;
    v1::Measurement winner;  // without samples; unset where nothing ranked
    std::uint32_t num_valid = 0;
  };

  std::optional<Ended> take_ended();

  // How many valid configurations the races that ended left untried, and why; empty: none.
  std::string untried_text() const;

 private:
  void begin_workload();
  void end_workload(const v1::Workload& workload);
  bool is_budget_spent() const;
  bool is_over() const;
  absl::StatusOr<std::size_t> choose();
  std::optional<std::size_t> starting_point() const;

  const Plan& plan_;
  const std::vector<std::optional<v1::Arm>> starts_;
  std::uint32_t workload_ = 0;
  std::uint32_t num_told_ = 0;
  tuning::Race race_;
  std::unique_ptr<tuning::Strategy> strategy_;
  std::vector<bool> tried_;
  std::uint32_t num_tried_ = 0;
  std::int64_t elapsed_ns_ = 0;
  std::optional<std::size_t> point_;  // of next()
  std::optional<double> start_cost_;  // of the one that the strategy did not ask for
  std::optional<v1::Configuration> next_;
  v1::Measurement winner_;  // of the incumbent, without samples
  std::optional<Ended> ended_;

  // Of all races that ended.
  struct Left {
    std::uint64_t num_valid = 0;
    std::uint64_t num_by_budget = 0;  // untried since the budget was spent
    std::uint64_t num_by_limit = 0;   // untried beyond the most that were asked for
  };

  Left left_;
};

}  // namespace assay::server
