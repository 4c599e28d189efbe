#include "tuning/sweep_races.h"

#include "proto/text.h"

#include <string>
#include <utility>

namespace assay::tuning {

std::vector<WorkloadRace> races_of(const v1::Experiment& experiment) {
  std::vector<WorkloadRace> races;
  Race race;
  std::string last;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const std::string workload = proto::text_of(configuration.workload());
    if (races.empty() || workload != last) {
      if (!races.empty()) {
        races.back().result = race.result();
      }
      races.push_back({.workload = configuration.workload(), .result = {}, .may_go_on = false});
      race = Race();
      last = workload;
    }
    race.add(configuration);
  }
  if (!races.empty()) {
    races.back().result = race.result();
    races.back().may_go_on = experiment.state() != v1::DONE;
  }
  return races;
}

}  // namespace assay::tuning
