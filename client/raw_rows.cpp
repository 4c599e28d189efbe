#include "client/bits_text.h"
#include "client/compare_parts.h"
#include "client/numbers.h"
#include "client/report.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace assay::client {
namespace {

std::string if_positive(std::int64_t value) {
  return value > 0 ? absl::StrCat(value) : "";
}

std::string arm_text(const v1::Measurement& measurement, const v1::Arm& asked) {
  return proto::text_of(arm_of(measurement, asked));
}

// Columns before those of a stage.
std::vector<std::string> head_of(const v1::Experiment& experiment,
                                 const v1::Configuration& configuration) {
  return {absl::StrCat(experiment.experiment_id()),
          absl::StrCat(configuration.configuration()),
          experiment.spec().operator_name(),
          experiment.spec().device(),
          configuration.workload().name(),
          proto::text_of(configuration.workload()),
          arm_text(configuration.baseline(), configuration.baseline_arm()),
          arm_text(configuration.candidate(), configuration.candidate_arm()),
          v1::Outcome_Name(configuration.outcome())};
}

std::vector<std::string> stage_cells(const v1::StageVerdict& stage, bool rejected) {
  const bool has_ratio = stage.has_ratio() && !rejected;
  return {stage.stage(),
          if_positive(stage.baseline_median_ns()),
          if_positive(stage.baseline_lower_quartile_ns()),
          if_positive(stage.baseline_upper_quartile_ns()),
          if_positive(stage.candidate_median_ns()),
          if_positive(stage.candidate_lower_quartile_ns()),
          if_positive(stage.candidate_upper_quartile_ns()),
          has_ratio ? raw_number_text(stage.ratio()) : "",
          has_ratio ? raw_number_text(stage.ratio_low()) : "",
          has_ratio ? raw_number_text(stage.ratio_high()) : "",
          has_ratio ? raw_number_text(stage.coverage()) : "",
          has_ratio ? raw_number_text(stage.drift()) : "",
          has_ratio && stage.bar() > 0 ? raw_number_text(stage.bar()) : "",
          absl::StrCat(stage.num_rounds()),
          absl::StrCat(stage.num_good_blocks()),
          absl::StrCat(stage.num_bad_blocks()),
          v1::VerdictKind_Name(stage.verdict()),
          v1::VerdictKind_Name(stage.statistical_verdict())};
}

std::vector<std::string> tail_of(const v1::Configuration& configuration,
                                 const v1::Verdict& verdict,
                                 const std::string& reason) {
  const bool alone = configuration.candidate_arm().variant().empty();
  const v1::Measurement& judged = alone ? configuration.baseline() : configuration.candidate();
  return {v1::VerdictKind_Name(verdict.verdict()),
          verdict.bits_equal() ? "true" : "false",
          verdict.rejected_by() == v1::BITS_CHECK_UNSPECIFIED
              ? ""
              : v1::BitsCheck_Name(verdict.rejected_by()),
          output_digest(judged),
          verdict.golden(),
          judged.bits().tolerance_known() ? raw_number_text(judged.bits().tolerance_used()) : "",
          judged.bits().tolerance_alarm() ? "true" : "false",
          if_positive(judged.floor_ns()),
          v1::TimingSource_Name(judged.timing_source()),
          v1::CacheMode_Name(judged.cache_mode()),
          v1::LaunchMode_Name(judged.launch_mode()),
          configuration.outcome() == v1::FINISHED ? reason : configuration.message()};
}

void append(std::vector<std::string>& row, std::vector<std::string> cells) {
  row.insert(
      row.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
}

void add_columns(Table& table, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    table.columns.push_back({name, Align::kLeft});
  }
}

}  // namespace

Table compare_csv(const v1::Experiment& experiment) {
  Table table;
  add_columns(table,
              {"experiment_id",
               "configuration",
               "operator_name",
               "device",
               "workload_name",
               "workload",
               "baseline",
               "candidate",
               "outcome",
               "stage",
               "baseline_median_ns",
               "baseline_lower_quartile_ns",
               "baseline_upper_quartile_ns",
               "candidate_median_ns",
               "candidate_lower_quartile_ns",
               "candidate_upper_quartile_ns",
               "ratio",
               "ratio_low",
               "ratio_high",
               "coverage",
               "drift",
               "bar",
               "num_rounds",
               "num_good_blocks",
               "num_bad_blocks",
               "stage_verdict",
               "statistical_verdict",
               "verdict",
               "bits_equal",
               "rejected_by",
               "digest",
               "golden",
               "tolerance_used",
               "tolerance_alarm",
               "floor_ns",
               "timing_source",
               "cache_mode",
               "launch_mode",
               "reason"});
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const v1::Verdict& verdict = last_verdict(configuration);
    const bool rejected = verdict.verdict() == v1::REJECTED;
    std::vector<v1::StageVerdict> stages(verdict.stages().begin(), verdict.stages().end());
    if (stages.empty()) {
      stages.emplace_back().set_stage("total");
    }
    for (const v1::StageVerdict& stage : stages) {
      std::vector<std::string>& row = table.rows.emplace_back(head_of(experiment, configuration));
      append(row, stage_cells(stage, rejected));
      const bool total = stage.stage() == "total";
      append(row, tail_of(configuration, verdict, total ? verdict.reason() : stage.reason()));
    }
  }
  return table;
}

Table check_csv(const v1::Experiment& experiment) {
  Table table;
  add_columns(table,
              {"experiment_id",
               "configuration",
               "operator_name",
               "device",
               "outcome",
               "suite",
               "name",
               "passed",
               "num_cases",
               "num_differing",
               "num_nontrivial",
               "counts",
               "rejected_by",
               "num_goldens_reproduced",
               "num_goldens_missing",
               "num_goldens_differing",
               "tolerance_used",
               "tolerance_alarm",
               "not_run",
               "detail"});
  for (const v1::Configuration& configuration : experiment.configurations()) {
    const v1::CheckResult& check = configuration.check();
    const std::string counts =
        absl::StrJoin(check.counts(), " ", [](std::string* text, const v1::CountBy& count) {
          absl::StrAppend(text, count.label(), "=", count.num());
        });
    table.rows.push_back(
        {absl::StrCat(experiment.experiment_id()),
         absl::StrCat(configuration.configuration()),
         experiment.spec().operator_name(),
         experiment.spec().device(),
         v1::Outcome_Name(configuration.outcome()),
         check.suite(),
         check.name(),
         check.passed() ? "true" : "false",
         absl::StrCat(check.num_cases()),
         absl::StrCat(check.num_differing()),
         absl::StrCat(check.num_nontrivial()),
         counts,
         check.rejected_by() == v1::BITS_CHECK_UNSPECIFIED
             ? ""
             : v1::BitsCheck_Name(check.rejected_by()),
         absl::StrCat(check.num_goldens_reproduced()),
         absl::StrCat(check.num_goldens_missing()),
         absl::StrCat(check.num_goldens_differing()),
         raw_number_text(check.tolerance_used()),
         check.tolerance_alarm() ? "true" : "false",
         check.not_run(),
         configuration.outcome() == v1::FINISHED ? check.detail() : configuration.message()});
  }
  return table;
}

}  // namespace assay::client
