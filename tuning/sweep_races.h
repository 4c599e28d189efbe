// The races of a SWEEP, one a workload, made again from its configurations.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/race.h"

#include <vector>

namespace assay::tuning {

struct WorkloadRace {
  v1::Workload workload;
  RaceResult result;
  bool may_go_on = false;  // the last one of an experiment that is not done
};

// In the order of the experiment.
std::vector<WorkloadRace> races_of(const v1::Experiment& experiment);

}  // namespace assay::tuning
