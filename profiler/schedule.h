// Which arm is called when. Every random choice is a pure function of the stored seed, so that a
// round can be planned alone and planned again.
#pragma once

#include "proto/assay.pb.h"

#include <array>
#include <cstdint>
#include <vector>

namespace assay::profiler {

enum class ArmRole : std::uint8_t {
  kBaseline,   // A
  kCandidate,  // B
};

// The rounds after which a verdict is looked at, and no others.
inline constexpr std::array<std::uint32_t, 3> kLooks = {12, 24, 48};

// How the looks end where no verdict does it: what a configuration says of itself, and what advice
// goes by.
inline constexpr char kBudgetUsed[] = "budget used";
inline constexpr char kRoundsUsed[] = "rounds used";

// The legs of one round in order. BAB (also unspecified): B A B. AB: A B or B A. ABBA: A B B A or
// B A A B; which arm leads comes from the seed, each in half of every two rounds.
std::vector<ArmRole> round_legs(v1::Schedule schedule, std::uint32_t round, std::uint64_t seed);

// The legs of one round of a measurement of one arm.
std::vector<ArmRole> measure_legs();

// Counter-based random bits: equal arguments give equal bits on every host.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// The same as a uniform in [0, 1).
double random_uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

}  // namespace assay::profiler
