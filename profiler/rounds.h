// From raw samples to paired rounds: which samples belong to which block, which are faults rather
// than samples, and one paired value per round in which every block is good.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay::profiler {

// A cold call may be this share of the floor before it is called impossible.
inline constexpr double kFloorShare = 0.9;

// One block's usable samples; bad when the device disqualified it or half of it are faults.
struct TimedBlock {
  std::uint32_t round = 0;
  std::uint32_t leg = 0;
  bool good = false;
  double median_ns = 0;  // 0 when bad
  std::vector<double> samples_ns;
};

// One arm's samples of one stage.
struct ArmTimes {
  std::vector<TimedBlock> blocks;
  std::uint32_t num_samples = 0;
  std::uint32_t num_zero = 0;      // of no length or negative
  std::uint32_t num_too_fast = 0;  // under the floor
  std::string fault;               // not empty: the samples do not fit the blocks
};

// One round: d = mean log B - mean log A, and log(last/first) of the legs of one arm.
struct PairedRound {
  std::uint32_t round = 0;
  double d = 0;
  double drift = 0;
  bool has_drift = false;
  bool candidate_leads = false;
};

// A call each, or in the graph launch mode a replay of many.
std::uint32_t num_samples(const v1::Block& block);

// Blocks of rounds before `end_round` only.
ArmTimes arm_times(const v1::Measurement& measurement,
                   const std::string& stage,
                   std::uint32_t end_round = std::numeric_limits<std::uint32_t>::max());

// The samples of all good blocks, in order of time.
std::vector<double> good_samples(const ArmTimes& times);

// Rounds in which both arms have blocks and all of them are good, in order.
std::vector<PairedRound> pair_rounds(const ArmTimes& baseline, const ArmTimes& candidate);

// How far the device moved within a round: |median| of the rounds' own drifts; without two legs of
// one arm (AB) half the difference between rounds that one or the other arm leads.
double drift_of(const std::vector<PairedRound>& rounds);

// Rounds that are in the blocks, whole or not.
std::uint32_t num_rounds(const v1::Measurement& measurement);

}  // namespace assay::profiler
