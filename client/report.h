// An experiment as people read it: facts that hold for every row, a table, numbered notes and
// closing lines.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <string>
#include <utility>
#include <vector>

namespace assay::client {

struct Report {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Table> tables;
  std::vector<std::string> notes;  // the first is [1]
  std::vector<std::string> closing;
};

// Aligned text, or Markdown for kMarkdown.
std::string report_text(const Report& report, Format format);

// Adds a note, or finds the equal one, and returns its mark " [1]"; nothing for an empty text.
std::string note_mark(Report& report, const std::string& text);

// Device, code version, toolkit and driver, as they were when the experiment began.
void add_device_facts(Report& report, const v1::Experiment& experiment);

// The experiment's number, the code that it measures and what it is part of, as far as it says so.
void add_context_facts(Report& report, const v1::Experiment& experiment);

// "experiment 7 failed: message; 2 of 4 configurations finished"; empty for one that is done.
std::string unfinished_text(const v1::Experiment& experiment);

// Rows of COMPARE and MEASURE.
Report compare_report(const v1::Experiment& experiment);

// Rows of CHECK; the closing lines end with "parity: 1,168 cases, 0 differ", "invariances: 9 of 9
// hold", "mutants: 14 of 14 rejected" and "goldens: 1,168 of 1,168 reproduced", as far as they ran.
Report check_report(const v1::Experiment& experiment);

// One row per ceiling of a BENCH.
Report ceiling_report(const v1::Experiment& experiment);

// A SWEEP: for each workload the best configurations, the failures by class and the winner.
Report sweep_report(const v1::Experiment& experiment);

// One row per block: clocks, temperature, power and the median of its calls.
Report block_report(const v1::Experiment& experiment);

// Every figure that the newest verdicts of COMPARE, CALIBRATE and MEASURE rest on, a report for
// each configuration.
std::string explanation_text(const v1::Experiment& experiment, Format format);

// Raw figures under the names of the data model: one row per workload and stage, one per item of a
// check, one per sample.
Table compare_csv(const v1::Experiment& experiment);
Table check_csv(const v1::Experiment& experiment);
Table sweep_csv(const v1::Experiment& experiment);
Table ceiling_csv(const v1::Experiment& experiment);
Table sample_csv(const v1::Experiment& experiment);

// The whole experiment in one of the four forms.
absl::StatusOr<std::string> experiment_text(const v1::Experiment& experiment,
                                            Format format,
                                            bool with_samples);

}  // namespace assay::client
