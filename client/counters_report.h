// Hardware counters and rooflines as tables.
#pragma once

#include "client/report.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// Whether somebody asked for counters.
bool asks_for_counters(const v1::Experiment& experiment);

// A row for each kernel of an arm, a column for each metric; why counters that were asked for are
// not there is a closing line, "counters: ...".
void add_counters(Report& report, const v1::Experiment& experiment);

// A row for each stage that was counted and one for the call; the ceilings are a closing line.
void add_roofline(Report& report, const v1::Experiment& experiment);

// One of them alone. CSV has raw figures: one row for each kernel and metric, or each point.
std::string counters_text(const v1::Experiment& experiment, Format format);
std::string roofline_text(const v1::Experiment& experiment, Format format);

}  // namespace assay::client
