#include "profiler/rounds.h"

#include "profiler/statistics.h"
#include "profiler/tensor.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace assay::profiler {

namespace {

const v1::StageSamples* find_stage(const v1::Measurement& measurement, const std::string& stage) {
  const auto found = std::ranges::find_if(
      measurement.stages(), [&](const v1::StageSamples& each) { return each.stage() == stage; });
  return found == measurement.stages().end() ? nullptr : &*found;
}

// The least plausible duration: only whole calls on cold caches have one.
double least_ns(const v1::Measurement& measurement, const std::string& stage) {
  const bool is_call = stage == "total" || stage == "span";
  if (!is_call || measurement.cache_mode() != v1::COLD) {
    return 0;
  }
  return kFloorShare * static_cast<double>(measurement.floor_ns());
}

// Legs of one arm in one round, in order.
struct Legs {
  std::vector<const TimedBlock*> blocks;

  bool good() const {
    return !blocks.empty() &&
           std::ranges::all_of(blocks, [](const TimedBlock* block) { return block->good; });
  }

  double mean_log() const {
    double sum = 0;
    for (const TimedBlock* block : blocks) {
      sum += std::log(block->median_ns);
    }
    return sum / static_cast<double>(blocks.size());
  }

  std::uint32_t reach() const {
    return blocks.size() < 2 ? 0 : blocks.back()->leg - blocks.front()->leg;
  }

  double last_over_first() const {
    return std::log(blocks.back()->median_ns / blocks.front()->median_ns);
  }
};

std::map<std::uint32_t, Legs> legs_by_round(const ArmTimes& times) {
  std::map<std::uint32_t, Legs> rounds;
  for (const TimedBlock& block : times.blocks) {
    rounds[block.round].blocks.push_back(&block);
  }
  for (auto& [round, legs] : rounds) {
    std::ranges::sort(legs.blocks, {}, &TimedBlock::leg);
  }
  return rounds;
}

}  // namespace

std::uint32_t num_samples(const v1::Block& block) {
  return block.num_calls() / std::max(block.calls_per_sample(), 1U);
}

ArmTimes arm_times(const v1::Measurement& measurement,
                   const std::string& stage,
                   std::uint32_t end_round) {
  ArmTimes times;
  const v1::StageSamples* samples = find_stage(measurement, stage);
  if (samples == nullptr) {
    times.fault = absl::StrCat("no samples of the stage `", stage, "`");
    return times;
  }
  std::int64_t num_expected = 0;
  for (const v1::Block& block : measurement.blocks()) {
    num_expected += num_samples(block);
  }
  if (num_expected != samples->samples_ns_size()) {
    times.fault = absl::StrCat(with_commas(samples->samples_ns_size()),
                               " samples of the stage `",
                               stage,
                               "` for ",
                               with_commas(num_expected),
                               measurement.launch_mode() == v1::GRAPH ? " replays" : " calls");
    return times;
  }

  const double least = least_ns(measurement, stage);
  int next = 0;
  for (const v1::Block& block : measurement.blocks()) {
    TimedBlock timed{block.round(), block.leg(), false, 0, {}};
    const int end = next + static_cast<int>(num_samples(block));
    if (block.round() >= end_round) {
      next = end;
      continue;
    }
    for (; next < end; ++next) {
      const std::int64_t sample = samples->samples_ns(next);
      ++times.num_samples;
      if (sample <= 0) {
        ++times.num_zero;
      } else if (static_cast<double>(sample) < least) {
        ++times.num_too_fast;
      } else {
        timed.samples_ns.push_back(static_cast<double>(sample));
      }
    }
    timed.good = !block.disqualified() && timed.samples_ns.size() * 2 > num_samples(block);
    if (timed.good) {
      timed.median_ns = *median(timed.samples_ns);
    }
    times.blocks.push_back(std::move(timed));
  }
  return times;
}

std::vector<double> good_samples(const ArmTimes& times) {
  std::vector<double> samples;
  for (const TimedBlock& block : times.blocks) {
    if (block.good) {
      samples.insert(samples.end(), block.samples_ns.begin(), block.samples_ns.end());
    }
  }
  return samples;
}

std::vector<PairedRound> pair_rounds(const ArmTimes& baseline, const ArmTimes& candidate) {
  const std::map<std::uint32_t, Legs> baseline_rounds = legs_by_round(baseline);
  std::vector<PairedRound> rounds;
  for (const auto& [round, b] : legs_by_round(candidate)) {
    const auto found = baseline_rounds.find(round);
    if (found == baseline_rounds.end() || !b.good() || !found->second.good()) {
      continue;
    }
    const Legs& a = found->second;
    const Legs& wider = a.reach() > b.reach() ? a : b;
    PairedRound paired{round, b.mean_log() - a.mean_log(), 0, wider.reach() > 0, false};
    if (paired.has_drift) {
      paired.drift = wider.last_over_first();
    }
    paired.candidate_leads = b.blocks.front()->leg < a.blocks.front()->leg;
    rounds.push_back(paired);
  }
  return rounds;
}

double drift_of(const std::vector<PairedRound>& rounds) {
  std::vector<double> drifts;
  std::vector<double> candidate_leads;
  std::vector<double> baseline_leads;
  for (const PairedRound& round : rounds) {
    if (round.has_drift) {
      drifts.push_back(round.drift);
    }
    (round.candidate_leads ? candidate_leads : baseline_leads).push_back(round.d);
  }
  if (!drifts.empty()) {
    return std::abs(*median(drifts));
  }
  if (candidate_leads.empty() || baseline_leads.empty()) {
    return 0;
  }
  return std::abs(*median(candidate_leads) - *median(baseline_leads)) / 2;
}

std::uint32_t num_rounds(const v1::Measurement& measurement) {
  std::uint32_t rounds = 0;
  for (const v1::Block& block : measurement.blocks()) {
    rounds = std::max(rounds, block.round() + 1);
  }
  return rounds;
}

}  // namespace assay::profiler
