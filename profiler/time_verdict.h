// The verdict in time of one stage, bits aside: paired rounds, the interval of their median, and
// what the interval must lie beyond.
#pragma once

#include "profiler/verdict.h"
#include "proto/assay.pb.h"

#include <string>
#include <vector>

namespace assay::profiler {

// A/A or not, no claim is made while the legs of one arm differ by this share.
inline constexpr double kUnstableDrift = 0.10;
// More faults than this share of the samples, and the stage is not judged.
inline constexpr double kMostFaults = 0.01;

// Stages of either arm, the baseline's order first.
std::vector<std::string> stages_of(const v1::Configuration& configuration);

// Medians and quartiles only: for arms alone and for rejected ones.
v1::StageVerdict describe_stage(const v1::Configuration& configuration, const std::string& stage);

v1::StageVerdict judge_stage(const v1::Configuration& configuration,
                             const std::string& stage,
                             const JudgeOptions& options);

}  // namespace assay::profiler
