#include "profiler/bits_verdict.h"

#include "profiler/drift.h"
#include "profiler/tensor.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <optional>

namespace assay::profiler {

namespace {

const v1::TensorDigest* find_tensor(const v1::Measurement& measurement, const std::string& tensor) {
  const auto found = std::ranges::find_if(
      measurement.outputs(), [&](const v1::TensorDigest& each) { return each.tensor() == tensor; });
  return found == measurement.outputs().end() ? nullptr : &*found;
}

struct Comparison {
  std::uint32_t num_compared = 0;
  std::string first_differing;  // tensor
};

// A form that does not write an intermediate is compared on the rest.
Comparison compare_digests(const v1::Measurement& baseline, const v1::Measurement& candidate) {
  Comparison comparison;
  for (const v1::TensorDigest& expected : baseline.outputs()) {
    const v1::TensorDigest* found = find_tensor(candidate, expected.tensor());
    if (found == nullptr) {
      continue;
    }
    ++comparison.num_compared;
    if (found->digest() != expected.digest() && comparison.first_differing.empty()) {
      comparison.first_differing = expected.tensor();
    }
  }
  return comparison;
}

// The first of the checks that concern one arm alone, as the runner or its figures say.
v1::BitsCheck own_failure(const v1::BitsReport& bits) {
  int first = bits.failed();
  const auto add = [&](bool failed, v1::BitsCheck check) {
    if (failed && (first == v1::BITS_CHECK_UNSPECIFIED || check < first)) {
      first = check;
    }
  };
  add(bits.num_digests() > 1, v1::BITS_REPEATABLE);
  add(bits.tolerance_known() && !(bits.tolerance_used() <= 1.0), v1::BITS_TOLERANCE);
  return static_cast<v1::BitsCheck>(first);
}

std::string tolerance_text(const v1::BitsReport& bits) {
  return absl::StrFormat("worst share of the tolerance %.3f%s%s",
                         bits.tolerance_used(),
                         bits.tolerance_place().empty() ? "" : " at ",
                         bits.tolerance_place());
}

std::string headline(v1::BitsCheck check) {
  switch (check) {
    case v1::BITS_FINISHED:
      return "it did not finish";
    case v1::BITS_WRITTEN:
      return "it did not read and write exactly its tensors";
    case v1::BITS_INPUTS:
      return "it changed its inputs";
    case v1::BITS_REPEATABLE:
      return "it is not deterministic";
    case v1::BITS_EQUAL:
      return "its bits are not the baseline's";
    case v1::BITS_GOLDEN:
      return "its bits are not the accepted golden's";
    case v1::BITS_TOLERANCE:
      return "it is out of tolerance";
    case v1::BITS_TIMED_LAUNCH:
      return "its timed calls gave other bits than its checked call";
    default:
      return absl::StrCat("it failed check ", static_cast<int>(check));
  }
}

// What failed, then what the runner says of it, then the first differing element.
std::string explain(v1::BitsCheck check, const v1::BitsReport& bits) {
  std::string text = headline(check);
  const bool is_runners_word = bits.failed() == check;
  if (check == v1::BITS_REPEATABLE &&
      !(is_runners_word && absl::StrContains(bits.detail(), "runs"))) {
    absl::StrAppend(&text,
                    " (",
                    with_commas(bits.num_digests()),
                    " digests in ",
                    with_commas(bits.num_runs()),
                    " runs)");
  }
  if (is_runners_word && !bits.detail().empty()) {
    absl::StrAppend(&text, ": ", bits.detail());
  }
  const bool is_about_values = check == v1::BITS_EQUAL || (is_runners_word && bits.has_drift());
  const bool is_said = is_runners_word && !bits.drift().found_bits().empty() &&
                       absl::StrContains(bits.detail(), bits.drift().found_bits());
  if (is_about_values && bits.has_drift() && !is_said) {
    absl::StrAppend(&text, ": ", describe(bits.drift()));
  }
  if (check == v1::BITS_TOLERANCE && bits.tolerance_known()) {
    absl::StrAppend(&text, ": ", tolerance_text(bits));
  }
  return text;
}

std::optional<BitsRuling> judge_outcome(const v1::Configuration& configuration) {
  std::string what;
  switch (configuration.outcome()) {
    case v1::CRASHED:
      what = "the runner crashed";
      break;
    case v1::TIMED_OUT:
      what = "the runner was killed at its deadline";
      break;
    case v1::BAD_FRAME:
      what = "the runner wrote what is no reply";
      break;
    default:
      return std::nullopt;
  }
  BitsRuling ruling;
  ruling.rejected_by = v1::BITS_FINISHED;
  ruling.reason = absl::StrCat("rejected: it did not finish: ", what);
  if (!configuration.message().empty()) {
    absl::StrAppend(&ruling.reason, ": ", configuration.message());
  }
  return ruling;
}

BitsRuling judge_alone(const v1::Measurement& arm, const JudgeOptions& options) {
  BitsRuling ruling;
  v1::BitsCheck failed = own_failure(arm.bits());
  if (options.golden_differs &&
      (failed == v1::BITS_CHECK_UNSPECIFIED || failed > v1::BITS_GOLDEN)) {
    failed = v1::BITS_GOLDEN;
  }
  if (failed != v1::BITS_CHECK_UNSPECIFIED) {
    ruling.rejected_by = failed;
    ruling.rejected_baseline = true;
    ruling.reason = absl::StrCat(
        "rejected: `", arm.arm().variant(), "` failed its checks: ", explain(failed, arm.bits()));
  }
  return ruling;
}

// What the candidate's family and digests say, beside its own checks.
v1::BitsCheck compared_failure(const v1::Configuration& configuration,
                               const Comparison& comparison,
                               const JudgeOptions& options) {
  if (configuration.baseline().family() != configuration.candidate().family() ||
      !comparison.first_differing.empty()) {
    return v1::BITS_EQUAL;
  }
  return options.golden_differs ? v1::BITS_GOLDEN : v1::BITS_CHECK_UNSPECIFIED;
}

std::string explain_candidate(v1::BitsCheck failed,
                              const v1::Configuration& configuration,
                              const Comparison& comparison,
                              const JudgeOptions& options) {
  const v1::Measurement& candidate = configuration.candidate();
  const v1::BitsReport& bits = candidate.bits();
  const bool is_other_family = configuration.baseline().family() != candidate.family();
  const bool is_same_bits = comparison.num_compared > 0 && comparison.first_differing.empty();
  if (failed == v1::BITS_EQUAL && is_other_family && is_same_bits && !bits.has_drift()) {
    return absl::StrCat("rejected: it belongs to the bit family `",
                        candidate.family(),
                        "`, which is not measured against the baseline's, though here the digests "
                        "are equal");
  }
  std::string text = absl::StrCat("rejected: ", explain(failed, bits));
  if (failed != v1::BITS_EQUAL) {
    return text;
  }
  if (!bits.has_drift() && !comparison.first_differing.empty()) {
    absl::StrAppend(&text, ": the digests of `", comparison.first_differing, "` differ");
  }
  if (is_other_family) {
    absl::StrAppend(&text,
                    "; it belongs to the bit family `",
                    candidate.family(),
                    "` and is judged by its own golden (",
                    options.golden,
                    ") and by tolerance");
    if (bits.tolerance_known()) {
      absl::StrAppend(&text, " (", tolerance_text(bits), ")");
    }
  }
  return text;
}

}  // namespace

BitsRuling judge_bits(const v1::Configuration& configuration, const JudgeOptions& options) {
  if (const auto ruling = judge_outcome(configuration)) {
    return *ruling;
  }
  const v1::Measurement& baseline = configuration.baseline();
  if (!configuration.has_candidate()) {
    return judge_alone(baseline, options);
  }

  const Comparison comparison = compare_digests(baseline, configuration.candidate());
  BitsRuling ruling;
  ruling.bits_equal = comparison.num_compared > 0 && comparison.first_differing.empty();
  const v1::BitsCheck compared = compared_failure(configuration, comparison, options);
  v1::BitsCheck failed = own_failure(baseline.bits());
  // A candidate equal to the baseline that is not the golden shows that the baseline is not either.
  if (compared == v1::BITS_GOLDEN && ruling.bits_equal &&
      (failed == v1::BITS_CHECK_UNSPECIFIED || failed > v1::BITS_GOLDEN)) {
    failed = v1::BITS_GOLDEN;
  }
  if (failed != v1::BITS_CHECK_UNSPECIFIED) {
    ruling.rejected_by = failed;
    ruling.rejected_baseline = true;
    ruling.reason = absl::StrCat("nothing was judged, the baseline `",
                                 baseline.arm().variant(),
                                 "` failed its own checks: ",
                                 explain(failed, baseline.bits()));
    return ruling;
  }

  failed = own_failure(configuration.candidate().bits());
  if (compared != v1::BITS_CHECK_UNSPECIFIED &&
      (failed == v1::BITS_CHECK_UNSPECIFIED || compared < failed)) {
    failed = compared;
  }
  ruling.bits_equal =
      ruling.bits_equal && (failed == v1::BITS_CHECK_UNSPECIFIED || failed > v1::BITS_EQUAL);
  if (failed != v1::BITS_CHECK_UNSPECIFIED) {
    ruling.rejected_by = failed;
    ruling.reason = explain_candidate(failed, configuration, comparison, options);
  }
  return ruling;
}

}  // namespace assay::profiler
