// The tables of a sweep's report. Cells show of workloads and arms what varies; what does not is
// said once, above.
#pragma once

#include "client/report.h"
#include "client/settings.h"
#include "client/sweep_races.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay::client {

// What the races have in common, and what tells them apart.
struct SweepNames {
  Varying workloads;
  Varying arms;
};

// What `spec` walks varies, however little of it was tried.
SweepNames names_of(const v1::ExperimentSpec& spec, const std::vector<WorkloadRace>& races);

// One row a workload: its winner.
Table winners_table(const std::vector<WorkloadRace>& races, const SweepNames& names);

// At most `most_rows` of each workload, the best first. Why one was not timed to the end goes to
// the notes of `report`.
Table ranking_table(const std::vector<WorkloadRace>& races,
                    const SweepNames& names,
                    std::size_t most_rows,
                    Report& report);

// One row a workload and failure class.
Table failures_table(const std::vector<WorkloadRace>& races, const SweepNames& names);

// "0.710", "about 0.71" without an interval, "1" of an arm to itself; "-": none.
std::string ratio_cell(double ratio, bool has_interval);

}  // namespace assay::client
