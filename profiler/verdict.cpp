#include "profiler/verdict.h"

#include "profiler/bits_verdict.h"
#include "profiler/clocks.h"
#include "profiler/drift.h"
#include "profiler/notes.h"
#include "profiler/time_verdict.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace assay::profiler {

namespace {

constexpr const char* kHeadline = "total";

v1::Verdict new_verdict(const JudgeOptions& options) {
  v1::Verdict verdict;
  verdict.set_rule_version(kRuleVersion);
  verdict.set_least_effect(options.least_effect > 0 ? options.least_effect : kDefaultLeastEffect);
  verdict.set_has_noise_floor(options.noise_floor.has_value());
  if (options.noise_floor) {
    verdict.set_noise_floor(options.noise_floor->noise_floor());
    verdict.set_noise_floor_ns(options.noise_floor->measured_ns());
    verdict.set_noise_floor_experiment_id(options.noise_floor->experiment_id());
    verdict.set_noise_floor_stale(options.noise_floor_stale);
  }
  verdict.set_judged_ns(options.now_ns);
  verdict.set_identical_code(options.identical_code);
  verdict.set_golden(options.golden);
  return verdict;
}

// No statistics were made: for a verdict that bits, faults or the kind of request decide.
v1::Verdict settle(v1::Verdict verdict, v1::VerdictKind kind, std::string reason) {
  verdict.set_verdict(kind);
  verdict.set_statistical_verdict(v1::NOT_JUDGED);
  verdict.set_reason(std::move(reason));
  return verdict;
}

v1::Verdict judge_check(const v1::Configuration& configuration, v1::Verdict verdict) {
  const v1::CheckResult& check = configuration.check();
  verdict.set_bits_equal(check.num_differing() == 0);
  if (check.passed() && check.num_goldens_differing() == 0) {
    return settle(std::move(verdict), v1::NOT_JUDGED, absl::StrCat("passed: ", check.summary()));
  }
  std::string reason = absl::StrCat("rejected: ", check.suite(), "/", check.name(), " failed");
  for (const std::string& part : {check.summary(), check.detail()}) {
    absl::StrAppend(&reason, part.empty() ? "" : ": ", part);
  }
  if (check.num_differing() > 0 && check.has_drift()) {
    absl::StrAppend(&reason, ": ", describe(check.drift()));
  }
  if (check.num_goldens_differing() > 0) {
    verdict.set_rejected_by(v1::BITS_GOLDEN);
    absl::StrAppend(&reason, "; first golden that differs: ", check.first_golden_differing());
  }
  return settle(std::move(verdict), v1::REJECTED, std::move(reason));
}

// Empty, or why the times of the two arms must not be compared.
std::string incomparable(const v1::Configuration& configuration) {
  const v1::Measurement& a = configuration.baseline();
  const v1::Measurement& b = configuration.candidate();
  const auto differ = [](const char* what, const std::string& one, const std::string& other) {
    return absl::StrCat("the arms' ",
                        what,
                        " differ (",
                        proto::spoken(one),
                        " and ",
                        proto::spoken(other),
                        "), which are never compared");
  };
  if (a.timing_source() != b.timing_source()) {
    return differ("timing sources",
                  v1::TimingSource_Name(a.timing_source()),
                  v1::TimingSource_Name(b.timing_source()));
  }
  if (a.launch_mode() != b.launch_mode()) {
    return differ(
        "launch modes", v1::LaunchMode_Name(a.launch_mode()), v1::LaunchMode_Name(b.launch_mode()));
  }
  if (a.cache_mode() != b.cache_mode()) {
    return differ(
        "cache modes", v1::CacheMode_Name(a.cache_mode()), v1::CacheMode_Name(b.cache_mode()));
  }
  return "";
}

// Zero differences between tensors that hold nothing prove nothing.
bool has_nontrivial(const v1::Measurement& measurement) {
  return measurement.outputs().empty() ||
         std::ranges::any_of(measurement.outputs(), [](const v1::TensorDigest& tensor) {
           return tensor.num_nontrivial() > 0;
         });
}

void describe_stages(const v1::Configuration& configuration, v1::Verdict* verdict) {
  for (const std::string& stage : stages_of(configuration)) {
    *verdict->add_stages() = describe_stage(configuration, stage);
  }
}

v1::Verdict judge_time(const v1::Configuration& configuration,
                       const JudgeOptions& options,
                       v1::Verdict verdict) {
  const ArmClocks clocks = clocks_of(configuration);
  verdict.set_baseline_sm_clock_mhz(static_cast<std::uint32_t>(std::lround(clocks.baseline_mhz)));
  verdict.set_candidate_sm_clock_mhz(static_cast<std::uint32_t>(std::lround(clocks.candidate_mhz)));
  for (const std::string& stage : stages_of(configuration)) {
    *verdict.add_stages() = judge_stage(configuration, stage, options);
  }
  const v1::StageVerdict* headline = headline_of(verdict);
  if (headline == nullptr) {
    return settle(std::move(verdict), v1::UNDECIDED, "undecided: no samples of the stage `total`");
  }
  std::string reason = absl::StrCat(headline->reason(), notes_of(configuration));
  if (!has_nontrivial(configuration.candidate())) {
    absl::StrAppend(&reason, "; every compared element is zero or poison");
  }
  verdict.set_reason(std::move(reason));
  verdict.set_verdict(headline->verdict());
  verdict.set_statistical_verdict(headline->statistical_verdict());
  return verdict;
}

}  // namespace

v1::Verdict judge(const v1::Configuration& configuration, const JudgeOptions& options) {
  v1::Verdict verdict = new_verdict(options);
  if (configuration.outcome() == v1::REFUSED) {
    return settle(std::move(verdict),
                  v1::NOT_JUDGED,
                  absl::StrCat("not judged: refused: ", configuration.message()));
  }
  if (configuration.has_check()) {
    return judge_check(configuration, std::move(verdict));
  }

  const BitsRuling bits = judge_bits(configuration, options);
  verdict.set_bits_equal(bits.bits_equal);
  verdict.set_rejected_by(bits.rejected_by);
  verdict.set_rejected_baseline(bits.rejected_baseline);
  if (bits.rejected_by != v1::BITS_CHECK_UNSPECIFIED) {
    describe_stages(configuration, &verdict);
    return settle(std::move(verdict), v1::REJECTED, bits.reason);
  }
  if (!configuration.has_candidate()) {
    describe_stages(configuration, &verdict);
    return settle(std::move(verdict),
                  v1::NOT_JUDGED,
                  absl::StrCat("not judged: one arm alone", notes_of(configuration)));
  }
  if (!bits.bits_equal) {
    describe_stages(configuration, &verdict);
    return settle(std::move(verdict),
                  v1::UNDECIDED,
                  "undecided: the arms have no digest of an output in common, so no bits were "
                  "compared");
  }
  if (const std::string why = incomparable(configuration); !why.empty()) {
    describe_stages(configuration, &verdict);
    return settle(std::move(verdict), v1::UNDECIDED, absl::StrCat("undecided: ", why));
  }
  return judge_time(configuration, options, std::move(verdict));
}

const v1::StageVerdict* headline_of(const v1::Verdict& verdict) {
  for (const v1::StageVerdict& stage : verdict.stages()) {
    if (stage.stage() == kHeadline) {
      return &stage;
    }
  }
  return nullptr;
}

bool wants_more_rounds(const v1::Verdict& verdict) {
  return verdict.rejected_by() == v1::BITS_CHECK_UNSPECIFIED &&
         verdict.statistical_verdict() == v1::UNDECIDED;
}

}  // namespace assay::profiler
