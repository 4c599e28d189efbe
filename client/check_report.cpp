#include "client/bits_text.h"
#include "client/check_buckets.h"
#include "client/numbers.h"
#include "client/report.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

constexpr char kInvariances[] = "invariances";
constexpr char kMutants[] = "mutants";

struct SuiteTotals {
  std::int64_t num_items = 0;
  std::int64_t num_passed = 0;
  std::int64_t num_cases = 0;
  std::int64_t num_differing = 0;
};

std::string counts_text(const v1::CheckResult& check) {
  return absl::StrJoin(check.counts(), ", ", [](std::string* text, const v1::CountBy& count) {
    absl::StrAppend(text, count.label(), " ", with_commas(count.num()));
  });
}

// What a reader needs to act on: the detail, the first difference, the first golden.
std::string failure_note(const v1::CheckResult& check) {
  std::vector<std::string> parts;
  // The golden that failed the check is shown once, below.
  const bool is_golden =
      check.rejected_by() == v1::BITS_GOLDEN && check.num_goldens_differing() > 0;
  std::string seen = is_golden ? "" : detail_text(check.detail(), check.drift());
  if (!seen.empty()) {
    parts.push_back(std::move(seen));
  }
  if (check.num_goldens_differing() > 0) {
    parts.push_back(
        absl::StrCat(counted(check.num_goldens_differing(), "golden"),
                     check.num_goldens_differing() == 1 ? " differs, first " : " differ, first ",
                     check.first_golden_differing()));
  }
  return absl::StrJoin(parts, "; ");
}

// A device that lacks every arm or cannot hold any problem proves nothing, and breaks nothing.
bool has_run(const v1::CheckResult& check) {
  return check.num_cases() > 0 || check.not_run().empty();
}

class CheckReport {
 public:
  explicit CheckReport(const v1::Experiment& experiment) : experiment_(experiment) {}

  Report build() {
    const v1::ExperimentSpec& spec = experiment_.spec();
    add_device_facts(report_, experiment_);
    report_.facts.emplace_back("operator", spec.operator_name());
    report_.facts.emplace_back("suite", spec.suite().empty() ? "all" : spec.suite());
    report_.facts.emplace_back("seed", absl::StrCat(spec.seed()));
    add_context_facts(report_, experiment_);
    for (const v1::Configuration& configuration : experiment_.configurations()) {
      add_item(configuration);
    }
    for (Table& table : std::vector<Table>{
             std::move(suites_), buckets_.table(), std::move(invariances_), std::move(mutants_)}) {
      if (!table.rows.empty()) {
        report_.tables.push_back(std::move(table));
      }
    }
    close();
    return std::move(report_);
  }

 private:
  void add_item(const v1::Configuration& configuration) {
    const v1::CheckResult& check = configuration.check();
    if (configuration.outcome() != v1::FINISHED) {
      add_unfinished(configuration);
      return;
    }
    const std::string name = absl::StrCat(check.suite(), "/", check.name());
    if (!has_run(check)) {
      not_run_.push_back(name);
    }
    SuiteTotals& totals = totals_[check.suite()];
    totals.num_items += has_run(check) || check.suite() != kInvariances ? 1 : 0;
    totals.num_passed +=
        check.passed() && (has_run(check) || check.suite() != kInvariances) ? 1 : 0;
    totals.num_cases += check.num_cases();
    totals.num_differing += check.num_differing();
    num_reproduced_ += check.num_goldens_reproduced();
    num_missing_ += check.num_goldens_missing();
    num_golden_differing_ += check.num_goldens_differing();
    buckets_.add(name, check);
    if (check.suite() == kMutants) {
      add_mutant(check);
      return;
    }
    if (check.suite() == kInvariances) {
      add_invariance(check);
      return;
    }
    suites_.rows.push_back({name,
                            with_commas(check.num_cases()),
                            with_commas(check.num_differing()),
                            with_commas(check.num_nontrivial()),
                            counts_text(check),
                            result_text(check, "passed", "failed")});
  }

  // What was left out is always a note, whatever the result is.
  std::string result_text(const v1::CheckResult& check, const char* passed, const char* failed) {
    std::string text = "not run";
    if (has_run(check)) {
      text = check.passed() ? passed : failed + note_mark(report_, failure_note(check));
    }
    return check.not_run().empty() ? text
                                   : text + note_mark(report_, "not run: " + check.not_run());
  }

  void add_invariance(const v1::CheckResult& check) {
    invariances_.rows.push_back({check.name(),
                                 with_commas(check.num_cases()),
                                 with_commas(check.num_differing()),
                                 result_text(check, "holds", "FAILS")});
  }

  void add_mutant(const v1::CheckResult& check) {
    const bool survived = !check.passed() || check.rejected_by() == v1::BITS_CHECK_UNSPECIFIED;
    mutants_.rows.push_back({check.name(),
                             survived ? "SURVIVED" : failure_text(check.rejected_by()),
                             bits_or_detail(check)});
  }

  static std::string bits_or_detail(const v1::CheckResult& check) {
    const std::string note = failure_note(check);
    return note.empty() ? check.summary() : note;
  }

  void add_unfinished(const v1::Configuration& configuration) {
    const v1::CheckResult& check = configuration.check();
    const std::string name = check.suite().empty()
                                 ? absl::StrCat("item ", configuration.configuration())
                                 : absl::StrCat(check.suite(), "/", check.name());
    const std::string outcome = proto::spoken(v1::Outcome_Name(configuration.outcome()));
    ++num_unfinished_;
    if (!check.suite().empty()) {
      ++totals_[check.suite()].num_items;
    }
    suites_.rows.push_back(
        {name, "-", "-", "-", "", outcome + note_mark(report_, configuration.message())});
  }

  void close() {
    if (num_unfinished_ > 0) {
      report_.closing.push_back(counted(num_unfinished_, "item") + " could not be carried out");
    }
    const std::string unfinished = unfinished_text(experiment_);
    for (const std::string& line : {not_run_.empty() ? ""
                                                     : absl::StrCat("not run on this device: ",
                                                                    absl::StrJoin(not_run_, ", ")),
                                    buckets_.warning(),
                                    unfinished}) {
      if (!line.empty()) {
        report_.closing.push_back(line);
      }
    }
    for (const auto& [suite, totals] : totals_) {
      if (suite != kMutants && suite != kInvariances) {
        report_.closing.push_back(total_line(suite, totals, !unfinished.empty()));
      }
    }
    const std::string so_far = unfinished.empty() ? "" : " so far";
    add_share_line(kInvariances, " hold" + so_far);
    add_share_line(kMutants, " rejected" + so_far);
    add_goldens_line();
  }

  // "mutants: 14 of 14 rejected", for a suite that ran.
  void add_share_line(const std::string& suite, const std::string& end) {
    const auto totals = totals_.find(suite);
    if (totals != totals_.end() && totals->second.num_items > 0) {
      report_.closing.push_back(absl::StrCat(suite,
                                             ": ",
                                             with_commas(totals->second.num_passed),
                                             " of ",
                                             with_commas(totals->second.num_items),
                                             end));
    }
  }

  void add_goldens_line() {
    const std::int64_t num = num_reproduced_ + num_missing_ + num_golden_differing_;
    if (num == 0) {
      return;
    }
    std::string line = absl::StrCat(
        "goldens: ", with_commas(num_reproduced_), " of ", with_commas(num), " reproduced");
    if (num_missing_ > 0) {
      absl::StrAppend(&line, ", ", with_commas(num_missing_), " not stored");
    }
    if (num_golden_differing_ > 0) {
      absl::StrAppend(&line, ", ", with_commas(num_golden_differing_), " differ");
    }
    report_.closing.push_back(line);
  }

  // The bare form is kept for a suite that ran whole and did not fail otherwise.
  static std::string total_line(const std::string& suite,
                                const SuiteTotals& totals,
                                bool unfinished) {
    std::string line = absl::StrCat(suite,
                                    ": ",
                                    with_commas(totals.num_cases),
                                    " cases, ",
                                    with_commas(totals.num_differing),
                                    " differ");
    const std::int64_t num_failed = totals.num_items - totals.num_passed;
    if (num_failed > 0 && totals.num_differing == 0) {
      absl::StrAppend(&line, ", ", counted(num_failed, "item"), " failed");
    }
    return unfinished ? line + " so far" : line;
  }

  const v1::Experiment& experiment_;
  Report report_;
  Table suites_{{{"item", Align::kLeft},
                 {"cases", Align::kRight},
                 {"differ", Align::kRight},
                 {"non-trivial", Align::kRight},
                 {"counts", Align::kLeft},
                 {"result", Align::kLeft}},
                {}};
  Table mutants_{
      {{"mutant", Align::kLeft}, {"rejected by", Align::kLeft}, {"what was seen", Align::kLeft}},
      {}};
  Table invariances_{{{"invariance", Align::kLeft},
                      {"pairs", Align::kRight},
                      {"differ", Align::kRight},
                      {"result", Align::kLeft}},
                     {}};
  CheckBuckets buckets_;
  std::vector<std::string> not_run_;
  std::map<std::string, SuiteTotals> totals_;
  std::int64_t num_reproduced_ = 0;
  std::int64_t num_missing_ = 0;
  std::int64_t num_golden_differing_ = 0;
  std::int64_t num_unfinished_ = 0;
};

}  // namespace

Report check_report(const v1::Experiment& experiment) {
  return CheckReport(experiment).build();
}

}  // namespace assay::client
