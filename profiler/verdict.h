// The one place where judgement lives: bits first, then tolerance, then time. judge() is a pure
// function of the stored configuration and the options, so that a verdict can be made again. Its
// figures are always finite; where there is none, has_ratio is false and the reason says why.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::profiler {

// Stored with every verdict; a change of any rule below is a new number.
inline constexpr std::uint32_t kRuleVersion = 1;
inline constexpr double kDefaultLeastEffect = 0.01;
// The arms' clocks may differ by this share before the verdict says so.
inline constexpr double kClockShare = 0.01;

struct JudgeOptions {
  double least_effect = kDefaultLeastEffect;  // a share; 0: the default
  std::optional<v1::NoiseFloor> noise_floor;  // the stored A/A noise
  std::string noise_floor_stale;              // as why_stale() says
  std::string golden = "none stored";         // of the candidate (of the one arm of a measurement)
  bool golden_differs = false;
  bool identical_code = false;  // same machine code and parameters in both arms
  v1::Schedule schedule = v1::BAB;
  std::int64_t now_ns = 0;
};

// Compares, measures and checks alike: an arm alone (no candidate) is NOT_JUDGED, a check that did
// not pass is REJECTED. Rounds past the last look (12, 24, 48) are not judged.
v1::Verdict judge(const v1::Configuration& configuration, const JudgeOptions& options);

// The stage that speaks for the whole call; null: it was not judged.
const v1::StageVerdict* headline_of(const v1::Verdict& verdict);

// Whether another look could decide: undecided by statistics, not by a fault.
bool wants_more_rounds(const v1::Verdict& verdict);

}  // namespace assay::profiler
