#include "client/sweep_untried.h"

#include "client/numbers.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace assay::client {
namespace {

// Combinations of the named launch parameters; 0: none was named, or not each of them is valid.
std::int64_t num_combinations(const v1::ExperimentSpec& spec, const v1::Workload& workload) {
  std::int64_t num = spec.source_digest().empty() ? 1 : 0;
  bool is_named = false;
  for (const v1::Axis& axis : spec.axes()) {
    const auto& names = workload.axes();
    if (std::ranges::find(names, axis.name(), &v1::Setting::name) == names.end()) {
      is_named = true;
      num *= axis.values_size();
    }
  }
  return is_named ? num : 0;
}

// Of each workload, by its text.
std::map<std::string, std::int64_t> running_times_ns(const v1::Experiment& experiment) {
  std::map<std::string, std::int64_t> times_ns;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    times_ns[proto::text_of(configuration.workload())] += configuration.elapsed_ns();
  }
  return times_ns;
}

}  // namespace

std::string untried_text(const v1::Experiment& experiment, const std::vector<WorkloadRace>& races) {
  const v1::ExperimentSpec& spec = experiment.spec();
  const v1::SweepSpec& sweep = spec.sweep();
  const std::map<std::string, std::int64_t> times_ns = running_times_ns(experiment);
  std::int64_t num_tried = 0;
  std::int64_t num_in_all = 0;
  bool is_spent = false;
  for (const WorkloadRace& race : races) {
    if (!race.may_go_on) {
      num_tried += static_cast<std::int64_t>(race.result.entries.size());
      num_in_all += num_combinations(spec, race.workload);
      is_spent = is_spent || (sweep.budget_ns() > 0 &&
                              times_ns.at(proto::text_of(race.workload)) >= sweep.budget_ns());
    }
  }
  const std::string each = races.size() > 1 ? " a workload" : "";
  const std::string budget = absl::StrCat("the budget of ", duration_text(sweep.budget_ns()), each);
  if (num_in_all > num_tried && (is_spent || sweep.max_configurations() > 0)) {
    const std::string asked = counted(sweep.max_configurations(), "configuration");
    return absl::StrCat(
        with_commas(num_in_all - num_tried),
        " of ",
        counted(num_in_all, "configuration"),
        " not tried: ",
        is_spent
            ? absl::StrCat(budget, " was spent")
            : absl::StrCat(
                  asked, each, sweep.max_configurations() == 1 ? " was" : " were", " asked for"));
  }
  return num_in_all == 0 && is_spent ? absl::StrCat(budget,
                                                    " ended it after ",
                                                    counted(num_tried, "configuration"),
                                                    "; of how many, says `assay tuning list ",
                                                    spec.operator_name(),
                                                    "`")
                                     : "";
}

}  // namespace assay::client
