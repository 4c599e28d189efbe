#include "profiler/time_verdict.h"

#include "profiler/clocks.h"
#include "profiler/modes.h"
#include "profiler/rounds.h"
#include "profiler/schedule.h"
#include "profiler/statistics.h"
#include "profiler/tensor.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

namespace assay::profiler {

namespace {

std::string percent(double share) {
  return absl::StrFormat("%.2f %%", share * 100);
}

// Whole rounds up to the last look that was reached; all there are before the first.
std::uint32_t judged_rounds(const v1::Configuration& configuration) {
  const std::uint32_t rounds =
      std::max(num_rounds(configuration.baseline()), num_rounds(configuration.candidate()));
  std::uint32_t judged = rounds;
  for (const std::uint32_t look : kLooks) {
    judged = look <= rounds ? look : judged;
  }
  return judged;
}

struct ArmFigures {
  std::int64_t median_ns = 0;
  std::int64_t lower_ns = 0;
  std::int64_t upper_ns = 0;
};

ArmFigures figures_of(const ArmTimes& times) {
  const auto found = quartiles(good_samples(times));
  if (!found.ok()) {
    return {};
  }
  return {std::llround(found->median), std::llround(found->lower), std::llround(found->upper)};
}

void set_figures(const ArmTimes& baseline, const ArmTimes& candidate, v1::StageVerdict* verdict) {
  const ArmFigures a = figures_of(baseline);
  const ArmFigures b = figures_of(candidate);
  verdict->set_baseline_median_ns(a.median_ns);
  verdict->set_baseline_lower_quartile_ns(a.lower_ns);
  verdict->set_baseline_upper_quartile_ns(a.upper_ns);
  verdict->set_candidate_median_ns(b.median_ns);
  verdict->set_candidate_lower_quartile_ns(b.lower_ns);
  verdict->set_candidate_upper_quartile_ns(b.upper_ns);
}

void set_counts(std::initializer_list<const ArmTimes*> arms, v1::StageVerdict* verdict) {
  std::uint32_t num_good = 0;
  std::uint32_t num_blocks = 0;
  for (const ArmTimes* times : arms) {
    num_good +=
        static_cast<std::uint32_t>(std::ranges::count(times->blocks, true, &TimedBlock::good));
    num_blocks += static_cast<std::uint32_t>(times->blocks.size());
    verdict->set_num_samples(verdict->num_samples() + times->num_samples);
    verdict->set_num_faults(verdict->num_faults() + times->num_zero + times->num_too_fast);
  }
  verdict->set_num_good_blocks(num_good);
  verdict->set_num_bad_blocks(num_blocks - num_good);
}

// Empty, or why the samples of one arm cannot be judged at all.
std::string fault_of(const ArmTimes& times, const std::string& arm) {
  if (!times.fault.empty()) {
    return absl::StrCat(times.fault, " (", arm, ")");
  }
  const std::uint32_t num_faults = times.num_zero + times.num_too_fast;
  if (num_faults == 0 || num_faults <= kMostFaults * times.num_samples) {
    return "";
  }
  if (times.num_zero == times.num_samples) {
    return absl::StrCat("zero-length samples: timer not usable (", arm, ")");
  }
  if (times.num_zero >= times.num_too_fast) {
    return absl::StrCat(with_commas(times.num_zero),
                        " of ",
                        with_commas(times.num_samples),
                        " samples of the ",
                        arm,
                        " have no positive length");
  }
  return absl::StrCat(with_commas(times.num_too_fast),
                      " of ",
                      with_commas(times.num_samples),
                      " samples of the ",
                      arm,
                      " are faster than the device can read the bytes");
}

// Empty, or what gives more rounds than were run.
std::string advice_on(const v1::Configuration& configuration) {
  if (configuration.stopped_because() == kBudgetUsed) {
    return "; the budget was used: raise --budget";
  }
  return configuration.stopped_because() == kRoundsUsed ? "; the rounds were used: raise --rounds"
                                                        : "";
}

std::optional<Modes> modes_of(const ArmTimes& times) {
  std::vector<std::vector<double>> blocks;
  for (const TimedBlock& block : times.blocks) {
    if (block.good) {
      blocks.push_back(block.samples_ns);
    }
  }
  return find_modes(blocks);
}

// The arm whose modes are further apart.
std::optional<std::pair<Modes, std::string>> worse_modes(const ArmTimes& baseline,
                                                         const ArmTimes& candidate) {
  const auto a = modes_of(baseline);
  const auto b = modes_of(candidate);
  if (!a && !b) {
    return std::nullopt;
  }
  if (!b || (a && a->apart >= b->apart)) {
    return std::pair(*a, std::string("baseline"));
  }
  return std::pair(*b, std::string("candidate"));
}

v1::VerdictKind set(v1::StageVerdict* verdict, v1::VerdictKind kind, std::string reason) {
  verdict->set_statistical_verdict(kind);
  verdict->set_verdict(kind == v1::NOT_JUDGED ? v1::UNDECIDED : kind);
  verdict->set_reason(std::move(reason));
  return kind;
}

// What a claim rests on, in words and as the largest logarithm an interval must lie beyond.
struct Bars {
  double least_effect = 0;
  double drift = 0;
  double noise = 0;
  bool has_noise = false;
  std::string stale_noise;  // why it may be out of date
  double modes = 0;
  std::string modes_arm;  // whose modes they are

  double highest() const { return std::max({least_effect, drift, noise, modes}); }

  // The figures that the verdict stores; of the drift that is the logarithm.
  std::string text() const {
    return absl::StrCat(
        "the least effect of ",
        percent(std::expm1(least_effect)),
        ", the drift of ",
        percent(drift),
        modes > 0
            ? absl::StrCat(
                  ", the ", percent(std::expm1(modes)), " between two modes of the ", modes_arm)
            : "",
        has_noise ? absl::StrCat(" and ", noise_text()) : "; no A/A noise is stored");
  }

  std::string noise_text() const {
    return absl::StrCat("the stored A/A noise of ",
                        percent(std::expm1(noise)),
                        stale_noise.empty() ? "" : absl::StrCat(" (stale: ", stale_noise, ")"));
  }
};

std::string drift_text(const Bars& bars, v1::Schedule schedule) {
  const std::string share = percent(std::expm1(bars.drift));
  switch (schedule) {
    case v1::AB:
      return absl::StrCat("unstable: the order of the arms moves the ratio by ", share);
    case v1::ABBA:
      return absl::StrCat("unstable: the outer legs of a round differ by ", share);
    default:
      return absl::StrCat("unstable: the two B legs differ by ", share);
  }
}

// The verdict of an interval of logarithms between `low` and `high`.
void decide(double low,
            double high,
            const Bars& bars,
            const std::string& modes,
            v1::Schedule schedule,
            v1::StageVerdict* verdict) {
  const std::string figures = absl::StrFormat(
      "the candidate takes %.4f of the baseline's time (%.4f to %.4f, coverage %.2f %%, %d rounds)",
      verdict->ratio(),
      verdict->ratio_low(),
      verdict->ratio_high(),
      verdict->coverage() * 100,
      verdict->num_rounds());
  if (bars.drift > std::log1p(kUnstableDrift)) {
    set(verdict, v1::UNDECIDED, absl::StrCat(drift_text(bars, schedule), "; ", figures));
    return;
  }
  if (high < -bars.highest() || low > bars.highest()) {
    const bool faster = high < 0;
    set(verdict,
        faster ? v1::FASTER : v1::SLOWER,
        absl::StrCat(faster ? "faster: " : "slower: ", figures, ", beyond ", bars.text()));
    return;
  }
  if (low > -bars.least_effect && high < bars.least_effect) {
    set(verdict,
        v1::SAME,
        absl::StrCat("same: no difference, ",
                     figures,
                     ", inside the least effect of ",
                     percent(std::expm1(bars.least_effect))));
    return;
  }

  std::string why;
  const double nearest = high < 0 ? -high : low;
  if (!modes.empty()) {
    why = absl::StrCat(modes, ", and a smaller difference depends on their mixture");
  } else if (nearest > bars.least_effect && nearest <= bars.drift) {
    why = drift_text(bars, schedule);
  } else if (nearest > bars.least_effect) {
    why = absl::StrCat("the difference is not beyond ", bars.noise_text());
  } else {
    why = absl::StrCat("the interval reaches across the least effect of ",
                       percent(std::expm1(bars.least_effect)));
  }
  set(verdict, v1::UNDECIDED, absl::StrCat("undecided: ", why, "; ", figures));
}

// Identical machine code never reads faster or slower; what statistics said is kept.
void apply_identical_code(v1::StageVerdict* verdict) {
  const v1::VerdictKind kind = verdict->statistical_verdict();
  if (kind != v1::FASTER && kind != v1::SLOWER) {
    return;
  }
  verdict->set_verdict(v1::UNDECIDED);
  verdict->set_reason(
      absl::StrCat("undecided: both arms are identical machine code with identical parameters, so "
                   "the difference is not theirs; by statistics ",
                   verdict->reason()));
}

}  // namespace

std::vector<std::string> stages_of(const v1::Configuration& configuration) {
  std::vector<std::string> stages;
  for (const v1::Measurement* arm : {&configuration.baseline(), &configuration.candidate()}) {
    for (const v1::StageSamples& stage : arm->stages()) {
      if (std::ranges::find(stages, stage.stage()) == stages.end()) {
        stages.push_back(stage.stage());
      }
    }
  }
  return stages;
}

v1::StageVerdict describe_stage(const v1::Configuration& configuration, const std::string& stage) {
  v1::StageVerdict verdict;
  verdict.set_stage(stage);
  verdict.set_verdict(v1::NOT_JUDGED);
  verdict.set_statistical_verdict(v1::NOT_JUDGED);
  const ArmTimes baseline = arm_times(configuration.baseline(), stage);
  const ArmTimes candidate = arm_times(configuration.candidate(), stage);
  set_figures(baseline, candidate, &verdict);
  set_counts({&baseline, &candidate}, &verdict);
  verdict.set_num_rounds(num_rounds(configuration.baseline()));
  if (!configuration.has_candidate()) {
    verdict.set_reason(fault_of(baseline, "arm"));
  }
  return verdict;
}

v1::StageVerdict judge_stage(const v1::Configuration& configuration,
                             const std::string& stage,
                             const JudgeOptions& options) {
  v1::StageVerdict verdict;
  verdict.set_stage(stage);
  const std::uint32_t end_round = judged_rounds(configuration);
  const ArmTimes baseline = arm_times(configuration.baseline(), stage, end_round);
  const ArmTimes candidate = arm_times(configuration.candidate(), stage, end_round);
  set_figures(baseline, candidate, &verdict);
  set_counts({&baseline, &candidate}, &verdict);

  for (const auto& [times, arm] : {std::pair(&baseline, "baseline"), {&candidate, "candidate"}}) {
    if (const std::string fault = fault_of(*times, arm); !fault.empty()) {
      set(&verdict, v1::NOT_JUDGED, absl::StrCat("undecided: ", fault));
      return verdict;
    }
  }
  const std::vector<PairedRound> rounds = pair_rounds(baseline, candidate);
  verdict.set_num_rounds(static_cast<std::uint32_t>(rounds.size()));
  if (rounds.size() < kLooks.front()) {
    const std::string lost = describe_disqualified(configuration);
    const absl::Status status = insufficient_samples(rounds.size(), kLooks.front());
    set(&verdict,
        v1::UNDECIDED,
        absl::StrCat("undecided: ",
                     std::string(status.message()),
                     " of whole rounds",
                     lost.empty() ? "" : "; ",
                     lost,
                     end_round < kLooks.front() ? advice_on(configuration) : ""));
    return verdict;
  }

  std::vector<double> d;
  d.reserve(rounds.size());
  for (const PairedRound& round : rounds) {
    d.push_back(round.d);
  }
  const auto interval = median_interval(d);
  if (!interval.ok()) {
    set(&verdict,
        v1::UNDECIDED,
        absl::StrCat("undecided: ", std::string(interval.status().message())));
    return verdict;
  }
  Bars bars;
  bars.least_effect =
      std::log1p(options.least_effect > 0 ? options.least_effect : kDefaultLeastEffect);
  bars.drift = drift_of(rounds);
  bars.has_noise = options.noise_floor.has_value();
  if (options.noise_floor) {
    bars.noise = std::log1p(std::max(options.noise_floor->noise_floor(), 0.0));
    bars.stale_noise = options.noise_floor_stale;
  }
  verdict.set_has_ratio(true);
  verdict.set_ratio(std::exp(interval->median));
  verdict.set_ratio_low(std::exp(interval->low));
  verdict.set_ratio_high(std::exp(interval->high));
  verdict.set_coverage(interval->coverage);
  verdict.set_drift(bars.drift);

  const ArmClocks clocks = clocks_of(configuration);
  if (options.identical_code && clocks.differ()) {
    set(&verdict,
        v1::UNDECIDED,
        absl::StrCat("undecided: A/A control, but the ", describe(clocks)));
    return verdict;
  }
  std::string modes_text;
  if (const auto modes = worse_modes(baseline, candidate)) {
    bars.modes = std::log1p(modes->first.apart);
    bars.modes_arm = modes->second;
    modes_text = absl::StrCat(describe(modes->first), " (", modes->second, ")");
    verdict.set_modes_apart(modes->first.apart);
  }
  verdict.set_bar(std::expm1(bars.highest()));
  decide(interval->low, interval->high, bars, modes_text, options.schedule, &verdict);
  if (options.identical_code) {
    apply_identical_code(&verdict);
  }
  return verdict;
}

}  // namespace assay::profiler
