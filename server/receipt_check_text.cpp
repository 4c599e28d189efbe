#include "proto/bits_text.h"
#include "proto/numbers.h"
#include "proto/text.h"
#include "server/receipt_sections.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <map>

namespace assay::server {
namespace {

constexpr char kInvariances[] = "invariances";
constexpr char kMutants[] = "mutants";

struct Totals {
  std::int64_t num_items = 0;
  std::int64_t num_passed = 0;
  std::int64_t num_cases = 0;
  std::int64_t num_differing = 0;
};

std::string name_of(const v1::ReceiptCheck& check) {
  const v1::CheckResult& result = check.result();
  return result.suite().empty() ? absl::StrCat("item ", check.configuration())
                                : absl::StrCat(result.suite(), "/", result.name());
}

// An item that a device has no arm or no room for proves nothing.
bool has_run(const v1::ReceiptCheck& check) {
  return check.outcome() == v1::FINISHED &&
         (check.result().num_cases() > 0 || check.result().not_run().empty());
}

std::string seen_text(const v1::CheckResult& result) {
  std::string seen = proto::detail_text(result.detail(), result.drift());
  if (result.num_goldens_differing() > 0) {
    absl::StrAppend(&seen,
                    seen.empty() ? "" : "; ",
                    "first golden that differs: ",
                    result.first_golden_differing());
  }
  return seen.empty() ? result.summary() : seen;
}

std::string result_cell(const v1::ReceiptCheck& check, const char* passed, const char* failed) {
  if (check.outcome() != v1::FINISHED) {
    return absl::StrCat("**", proto::spoken(v1::Outcome_Name(check.outcome())), "**");
  }
  if (!has_run(check)) {
    return "not run";
  }
  const bool is_partial = !check.result().not_run().empty();
  return check.result().passed()
             ? absl::StrCat(passed, is_partial ? ", in part" : "")
             : absl::StrCat("**", failed, "**: ", markdown_prose(seen_text(check.result())));
}

std::string goldens_cell(const v1::CheckResult& result) {
  const std::int64_t num = std::int64_t{result.num_goldens_reproduced()} +
                           result.num_goldens_missing() + result.num_goldens_differing();
  if (num == 0) {
    return "-";
  }
  std::string text = absl::StrCat(proto::with_commas(result.num_goldens_reproduced()),
                                  " of ",
                                  proto::with_commas(num),
                                  " reproduced");
  if (result.num_goldens_missing() > 0) {
    absl::StrAppend(&text, ", ", proto::with_commas(result.num_goldens_missing()), " not stored");
  }
  if (result.num_goldens_differing() > 0) {
    absl::StrAppend(&text, ", **", proto::with_commas(result.num_goldens_differing()), " differ**");
  }
  return text;
}

std::string counts_text(const v1::CheckResult& result) {
  return absl::StrJoin(result.counts(), ", ", [](std::string* text, const v1::CountBy& count) {
    absl::StrAppend(text, markdown_prose(count.label()), " ", proto::with_commas(count.num()));
  });
}

std::string tolerance_cell(const v1::CheckResult& result) {
  return (result.tolerance_used() > 0 ? share_text(result.tolerance_used()) : "-") +
         (result.tolerance_alarm() ? " **alarm**" : "");
}

class CheckTables {
 public:
  void add(const v1::ReceiptCheck& check) {
    const v1::CheckResult& result = check.result();
    Totals& totals = totals_[result.suite()];
    const bool counts = has_run(check) || result.suite() != kInvariances;
    totals.num_items += counts ? 1 : 0;
    totals.num_passed += counts && has_run(check) && result.passed() ? 1 : 0;
    totals.num_cases += result.num_cases();
    totals.num_differing += result.num_differing();
    num_reproduced_ += result.num_goldens_reproduced();
    num_missing_ += result.num_goldens_missing();
    num_golden_differing_ += result.num_goldens_differing();
    buckets_.add(name_of(check), result.tolerance_buckets());
    if (check.outcome() == v1::FINISHED && result.suite() == kMutants) {
      add_mutant(check);
    } else if (check.outcome() == v1::FINISHED && result.suite() == kInvariances) {
      invariances_.rows.push_back({markdown_code(result.name()),
                                   proto::with_commas(result.num_cases()),
                                   proto::with_commas(result.num_differing()),
                                   result_cell(check, "holds", "FAILS")});
    } else {
      add_item(check);
    }
  }

  std::string text() const {
    std::string text = "#### Exactness\n\n";
    for (const auto& [suite, totals] : totals_) {
      absl::StrAppend(&text, "- ", total_line(suite, totals), "\n");
    }
    if (const std::int64_t num = num_reproduced_ + num_missing_ + num_golden_differing_; num > 0) {
      absl::StrAppend(&text,
                      "- goldens: ",
                      proto::with_commas(num_reproduced_),
                      " of ",
                      proto::with_commas(num),
                      " reproduced, ",
                      proto::with_commas(num_missing_),
                      " not stored, ",
                      proto::with_commas(num_golden_differing_),
                      " differ\n");
    }
    return absl::StrCat(text,
                        "\n",
                        items_.text(),
                        buckets_.text(),
                        invariances_.text(),
                        mutants_.rows.empty() ? "" : "#### Mutations\n\n",
                        mutants_.text());
  }

 private:
  void add_item(const v1::ReceiptCheck& check) {
    const v1::CheckResult& result = check.result();
    items_.rows.push_back({markdown_code(name_of(check)),
                           proto::with_commas(result.num_cases()),
                           proto::with_commas(result.num_differing()),
                           proto::with_commas(result.num_nontrivial()),
                           counts_text(result),
                           tolerance_cell(result),
                           goldens_cell(result),
                           check.cases_digest().empty() ? "-" : markdown_code(check.cases_digest()),
                           result_cell(check, "passed", "failed")});
  }

  void add_mutant(const v1::ReceiptCheck& check) {
    const v1::CheckResult& result = check.result();
    const bool survived = !result.passed() || result.rejected_by() == v1::BITS_CHECK_UNSPECIFIED;
    const std::string caught =
        has_run(check) ? (survived ? "**SURVIVED**" : proto::failure_text(result.rejected_by()))
                       : "not run";
    mutants_.rows.push_back(
        {markdown_code(result.name()), caught, markdown_prose(seen_text(result))});
  }

  static std::string total_line(const std::string& suite, const Totals& totals) {
    const std::string share = absl::StrCat(
        proto::with_commas(totals.num_passed), " of ", proto::with_commas(totals.num_items));
    const std::string name = suite.empty() ? "without a suite" : markdown_prose(suite);
    if (suite == kMutants) {
      const std::int64_t num_left = totals.num_items - totals.num_passed;
      return absl::StrCat(
          name,
          ": ",
          share,
          " rejected",
          num_left > 0 ? absl::StrCat(", **", proto::with_commas(num_left), " not**") : "");
    }
    if (suite == kInvariances) {
      return absl::StrCat(name, ": ", share, " hold");
    }
    return absl::StrCat(name,
                        ": ",
                        proto::with_commas(totals.num_cases),
                        " cases, ",
                        proto::with_commas(totals.num_differing),
                        " differ; ",
                        share,
                        " items passed");
  }

  std::map<std::string, Totals> totals_;
  std::int64_t num_reproduced_ = 0;
  std::int64_t num_missing_ = 0;
  std::int64_t num_golden_differing_ = 0;
  BucketTable buckets_;
  MarkdownTable items_{{{"item"},
                        {"cases", true},
                        {"differ", true},
                        {"non-trivial", true},
                        {"counts"},
                        {"of tolerance", true},
                        {"goldens"},
                        {"digest of all cases"},
                        {"result"}},
                       {}};
  MarkdownTable invariances_{{{"invariance"}, {"pairs", true}, {"differ", true}, {"result"}}, {}};
  MarkdownTable mutants_{{{"mutant"}, {"rejected by"}, {"what was seen"}}, {}};
};

}  // namespace

std::string check_section(const v1::ReceiptExperiment& experiment) {
  if (experiment.checks().empty()) {
    return "";
  }
  CheckTables tables;
  for (const v1::ReceiptCheck& check : experiment.checks()) {
    tables.add(check);
  }
  return tables.text();
}

}  // namespace assay::server
