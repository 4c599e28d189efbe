// Made-up durations of the kinds of noise that machines have, judged as the daemon judges: a look
// after 12, 24 and 48 rounds while undecided. Fixed seeds, so that every count is the same again.
#pragma once

#include "profiler/verdict.h"
#include "proto/assay.pb.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace assay::profiler {

enum class Noise : std::uint8_t {
  kOnePercent,
  kFivePercent,
  kLinearDrift,
  kAutoregressive,
  kModesByCall,
  kModesByBlock,
  kThrottling,
  kTicks,
  kHalfPercent,  // for power curves only
  kTwoPercent,
};

inline constexpr std::array kAllNoises = {Noise::kOnePercent,
                                          Noise::kFivePercent,
                                          Noise::kLinearDrift,
                                          Noise::kAutoregressive,
                                          Noise::kModesByCall,
                                          Noise::kModesByBlock,
                                          Noise::kThrottling,
                                          Noise::kTicks};

std::string_view name_of(Noise noise);
bool has_modes(Noise noise);

// What was said of many experiments in which the candidate takes `ratio` of the baseline's time.
struct Tally {
  int num_experiments = 0;
  int num_faster = 0;
  int num_slower = 0;
  int num_same = 0;
  int num_undecided = 0;
  int num_two_modes = 0;  // undecided, and the reason says that the samples have two modes
  std::int64_t num_rounds = 0;
};

// `options` is what the daemon would judge with; its schedule counts.
Tally simulate(Noise noise, double ratio, int num_experiments, const JudgeOptions& options = {});

// The floor that one simulated A/A control gives.
v1::NoiseFloor simulated_floor(Noise noise);

}  // namespace assay::profiler
