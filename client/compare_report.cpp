#include "client/bits_text.h"
#include "client/compare_parts.h"
#include "client/counters_report.h"
#include "client/numbers.h"
#include "client/report.h"
#include "client/variation.h"
#include "proto/text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <map>
#include <set>

namespace assay::client {
namespace {

class CompareReport {
 public:
  explicit CompareReport(const v1::Experiment& experiment)
      : experiment_(experiment),
        judged_(experiment.spec().kind() != v1::MEASURE),
        variation_(experiment) {
    has_floor_ = std::ranges::any_of(experiment.configurations(), [](const auto& configuration) {
      return configuration.baseline().floor_ns() > 0;
    });
  }

  Report build() {
    report_ = timed_head(experiment_);
    add_columns();
    for (const v1::Configuration& configuration : experiment_.configurations()) {
      add_rows(configuration);
    }
    report_.tables.push_back(std::move(table_));
    if (asks_for_counters(experiment_)) {
      add_counters(report_, experiment_);
      add_roofline(report_, experiment_);
    }
    add_closing(report_, experiment_);
    return std::move(report_);
  }

 private:
  void add_columns() {
    add_column(variation_.workloads().any(), "workload", Align::kLeft);
    add_column(variation_.baselines().any(), judged_ ? "A" : "arm", Align::kLeft);
    add_column(judged_ && variation_.candidates().any(), "B", Align::kLeft);
    add_column(true, "stage", Align::kLeft);
    add_column(true, judged_ ? "A us" : "median us", Align::kRight);
    add_column(!judged_, "quartiles us", Align::kRight);
    add_column(judged_, "B us", Align::kRight);
    add_column(judged_, "B/A", Align::kRight);
    add_column(judged_, "interval", Align::kRight);
    add_column(has_floor_, judged_ ? "A of floor" : "of floor", Align::kRight);
    add_column(has_floor_ && judged_, "B of floor", Align::kRight);
    add_column(true, "bits", Align::kLeft);
    add_column(true, "tolerance used", Align::kRight);
    add_column(true, judged_ ? "verdict" : "result", Align::kLeft);
  }

  void add_column(bool wanted, const std::string& name, Align align) {
    if (wanted) {
      table_.columns.push_back({name, align});
    }
  }

  // Cells by column name; columns that are not shown are left out.
  void add_row(const std::map<std::string, std::string>& cells) {
    std::vector<std::string>& row = table_.rows.emplace_back();
    for (const Column& column : table_.columns) {
      const auto cell = cells.find(column.name);
      row.push_back(cell == cells.end() ? "" : cell->second);
    }
  }

  void add_rows(const v1::Configuration& configuration) {
    // What holds for the call as a whole stands in its first row only.
    std::map<std::string, std::string> cells = {
        {"workload", variation_.workload_text(configuration)},
        {judged_ ? "A" : "arm", variation_.arm_text(configuration, Role::kBaseline)},
        {"bits", bits_text(configuration)},
        {"tolerance used",
         tolerance_text(judged_report(configuration)) + alarm_marks(configuration)}};
    if (judged_) {
      cells["B"] = variation_.arm_text(configuration, Role::kCandidate);
    }
    if (!shows_times(configuration)) {
      for (const char* name : {"A us", "median us", "B us", "B/A", "interval"}) {
        cells[name] = "-";
      }
      cells["stage"] = "total";
      cells[judged_ ? "verdict" : "result"] = timeless_text(configuration);
      add_row(cells);
      return;
    }
    for (const v1::StageVerdict& stage : last_verdict(configuration).stages()) {
      add_stage(configuration, stage, cells);
      add_row(cells);
      cells.clear();
    }
  }

  void add_stage(const v1::Configuration& configuration,
                 const v1::StageVerdict& stage,
                 std::map<std::string, std::string>& cells) {
    const bool total = stage.stage() == "total";
    const v1::Verdict& verdict = last_verdict(configuration);
    cells["stage"] = stage.stage();
    if (stage.baseline_median_ns() > 0) {
      cells[judged_ ? "A us" : "median us"] = in_microseconds(stage.baseline_median_ns());
      cells["quartiles us"] = absl::StrCat(in_microseconds(stage.baseline_lower_quartile_ns()),
                                           " to ",
                                           in_microseconds(stage.baseline_upper_quartile_ns()));
    }
    if (stage.candidate_median_ns() > 0) {
      cells["B us"] = in_microseconds(stage.candidate_median_ns());
    }
    cells["B/A"] = stage.has_ratio() ? ratio_text(stage.ratio()) : "-";
    cells["interval"] =
        stage.has_ratio() ? interval_text(stage.ratio_low(), stage.ratio_high()) : "-";
    if (total) {
      cells[judged_ ? "A of floor" : "of floor"] =
          floor_text(configuration.baseline(), stage.baseline_median_ns());
      cells["B of floor"] = floor_text(configuration.candidate(), stage.candidate_median_ns());
    }
    if (!judged_) {
      cells["result"] = total ? "measured" + measured_marks(configuration) : "";
      return;
    }
    const v1::VerdictKind kind = total ? verdict.verdict() : stage.verdict();
    std::string text = proto::spoken(v1::VerdictKind_Name(kind));
    if (total) {
      text += note_mark(report_, verdict.reason());
      text += measured_marks(configuration);
    } else if (stage.verdict() == v1::UNDECIDED) {
      absl::StrAppend(&text, note_mark(report_, stage.reason()));
    }
    cells["verdict"] = text;
  }

  static std::string floor_text(const v1::Measurement& measurement, std::int64_t median_ns) {
    if (measurement.floor_ns() <= 0 || median_ns <= 0) {
      return "-";
    }
    return percent_text(static_cast<double>(measurement.floor_ns()) /
                        static_cast<double>(median_ns));
  }

  // An alarm is no failure, and no secret either.
  std::string alarm_marks(const v1::Configuration& configuration) {
    std::string marks;
    for (const v1::Measurement* measurement :
         {&configuration.baseline(), &configuration.candidate()}) {
      if (has_alarm(*measurement)) {
        const std::string arm = measurement == &configuration.baseline() ? "A" : "B";
        const std::string& place = measurement->bits().tolerance_place();
        marks += note_mark(report_,
                           absl::StrCat("tolerance alarm: ",
                                        judged_ ? arm + " uses " : "uses ",
                                        tolerance_text(measurement->bits()),
                                        " of its tolerance",
                                        place.empty() ? "" : " at ",
                                        place,
                                        ", more than the formats explain"));
      }
    }
    return marks;
  }

  // Blocks and records that were kept and not judged are never silent.
  std::string measured_marks(const v1::Configuration& configuration) {
    std::string marks =
        configuration.message().empty()
            ? ""
            : note_mark(report_, absl::StrCat("the compiler says: ", configuration.message()));
    for (const v1::Measurement* measurement :
         {&configuration.baseline(), &configuration.candidate()}) {
      std::int64_t num_disqualified = 0;
      std::set<std::string> reasons;
      for (const v1::Block& block : measurement->blocks()) {
        if (block.disqualified()) {
          ++num_disqualified;
          reasons.insert(block.disqualified_because());
        }
      }
      const std::string arm = measurement == &configuration.baseline() ? "A" : "B";
      if (num_disqualified > 0) {
        marks += note_mark(report_,
                           absl::StrCat(with_commas(num_disqualified),
                                        " of ",
                                        with_commas(measurement->blocks_size()),
                                        " blocks of ",
                                        arm,
                                        " disqualified: ",
                                        absl::StrJoin(reasons, ", ")));
      }
      const std::int64_t num_lost = std::int64_t{measurement->num_invalid_records()} +
                                    std::int64_t{measurement->num_dropped_records()};
      if (num_lost > 0) {
        marks += note_mark(
            report_,
            absl::StrCat(
                with_commas(num_lost), " activity records of ", arm, " had no usable time"));
      }
    }
    return marks;
  }

  const v1::BitsReport& judged_report(const v1::Configuration& configuration) const {
    return judged_ && !last_verdict(configuration).rejected_baseline()
               ? configuration.candidate().bits()
               : configuration.baseline().bits();
  }

  v1::BitsCheck failed_check(const v1::Configuration& configuration) const {
    const v1::BitsCheck rejected_by = last_verdict(configuration).rejected_by();
    return rejected_by != v1::BITS_CHECK_UNSPECIFIED ? rejected_by
                                                     : judged_report(configuration).failed();
  }

  std::string bits_text(const v1::Configuration& configuration) const {
    if (configuration.outcome() != v1::FINISHED) {
      return "-";
    }
    std::string failure = failure_text(failed_check(configuration));
    if (!failure.empty()) {
      return failure;
    }
    const std::string digest = digest_prefix(
        output_digest(judged_ ? configuration.candidate() : configuration.baseline()));
    if (!judged_) {
      return digest.empty() ? "-" : digest;
    }
    if (!last_verdict(configuration).bits_equal()) {
      return digest.empty() ? "not compared" : "not equal, " + digest;
    }
    return digest.empty() ? "equal" : "equal " + digest;
  }

  // Of a row without times: what happened and, as a note, where.
  std::string timeless_text(const v1::Configuration& configuration) {
    if (configuration.outcome() != v1::FINISHED) {
      return proto::spoken(v1::Outcome_Name(configuration.outcome())) +
             note_mark(report_, configuration.message());
    }
    const v1::Verdict& verdict = last_verdict(configuration);
    const v1::BitsReport& bits = judged_report(configuration);
    std::string note = verdict.reason();
    if (!bits.detail().empty() && !absl::StrContains(note, bits.detail())) {
      absl::StrAppend(&note, note.empty() ? "" : "; ", bits.detail());
    }
    note = detail_text(note, bits.drift());
    const std::string who = verdict.rejected_baseline() ? "baseline " : "";
    return who + proto::spoken(v1::VerdictKind_Name(verdict.verdict())) + note_mark(report_, note);
  }

  const v1::Experiment& experiment_;
  bool judged_;
  Variation variation_;
  bool has_floor_ = false;
  Report report_;
  Table table_;
};

}  // namespace

Report compare_report(const v1::Experiment& experiment) {
  return CompareReport(experiment).build();
}

}  // namespace assay::client
