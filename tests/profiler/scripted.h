// A configuration whose durations a test makes up, block by block.
#pragma once

#include "profiler/schedule.h"
#include "proto/assay.pb.h"

#include <cstdint>
#include <functional>
#include <string>

namespace assay::profiler {

struct Call {
  ArmRole arm = ArmRole::kBaseline;
  std::uint32_t round = 0;
  std::uint32_t leg = 0;
  std::uint32_t call = 0;
};

using Duration = std::function<std::int64_t(const Call&)>;

inline v1::StageSamples* stage_of(v1::Measurement* measurement, const std::string& name) {
  for (v1::StageSamples& stage : *measurement->mutable_stages()) {
    if (stage.stage() == name) {
      return &stage;
    }
  }
  v1::StageSamples* stage = measurement->add_stages();
  stage->set_stage(name);
  return stage;
}

inline v1::Measurement* arm_of(v1::Configuration* configuration, ArmRole arm) {
  return arm == ArmRole::kBaseline ? configuration->mutable_baseline()
                                   : configuration->mutable_candidate();
}

// Two arms that finished with equal bits and no samples yet.
inline v1::Configuration equal_arms() {
  v1::Configuration configuration;
  configuration.set_outcome(v1::FINISHED);
  for (const ArmRole role : {ArmRole::kBaseline, ArmRole::kCandidate}) {
    v1::Measurement* arm = arm_of(&configuration, role);
    arm->mutable_arm()->set_variant(role == ArmRole::kBaseline ? "one_cell" : "two_cell");
    arm->set_family("baseline");
    arm->set_timing_source(v1::STEADY_CLOCK);
    v1::TensorDigest* output = arm->add_outputs();
    output->set_tensor("out");
    output->set_digest("00112233445566778899aabbccddeeff");
    output->set_num_nontrivial(1024);
  }
  return configuration;
}

// Appends rounds to the stage "total" of both arms.
inline void add_rounds(v1::Configuration* configuration,
                       std::uint32_t num_rounds,
                       const Duration& duration,
                       v1::Schedule schedule = v1::BAB,
                       std::uint32_t num_calls = 20) {
  std::uint32_t first = 0;
  for (const v1::Block& block : configuration->baseline().blocks()) {
    first = block.round() + 1;
  }
  for (std::uint32_t round = first; round < first + num_rounds; ++round) {
    std::uint32_t leg = 0;
    for (const ArmRole role : round_legs(schedule, round, 7)) {
      v1::Measurement* arm = arm_of(configuration, role);
      v1::Block* block = arm->add_blocks();
      block->set_round(round);
      block->set_leg(leg);
      block->set_num_calls(num_calls);
      v1::StageSamples* total = stage_of(arm, "total");
      for (std::uint32_t call = 0; call < num_calls; ++call) {
        total->add_samples_ns(duration({role, round, leg, call}));
      }
      ++leg;
    }
  }
}

}  // namespace assay::profiler
