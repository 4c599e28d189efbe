// The parts of a comparison's report that hold for the whole experiment.
#pragma once

#include "client/report.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// The newest judgement, or an empty one.
const v1::Verdict& last_verdict(const v1::Configuration& configuration);

// The arm as it ran, with every parameter, or as it was asked for.
const v1::Arm& arm_of(const v1::Measurement& measurement, const v1::Arm& asked);

// A rejected row shows no time, whatever was measured before.
bool shows_times(const v1::Configuration& configuration);

// Whether an A/A control gave a noise floor: the total has a ratio.
bool has_noise_floor(const v1::Configuration& configuration);

// Whether it ran, was not rejected and gave none.
bool lacks_noise_floor(const v1::Configuration& configuration);

// Whether an arm passed its tolerance by less than the formats explain.
bool has_alarm(const v1::Measurement& measurement);

// Operator, cache, launch mode, timing source, schedule, calls and rounds, coverage, seed, id and
// label.
void add_run_facts(Report& report, const v1::Experiment& experiment);

// The facts above every table of an experiment with arms.
Report timed_head(const v1::Experiment& experiment);

// How many configurations got which verdict, bits and goldens, and what did not run.
void add_closing(Report& report, const v1::Experiment& experiment);

// The same with `outcomes` instead of the verdicts: "1 winner, 2 tied".
void add_closing(Report& report, const v1::Experiment& experiment, const std::string& outcomes);

}  // namespace assay::client
