// Two modes in the samples of one arm: a kernel that is sometimes fast and sometimes slow has no
// one duration, and its ratio depends on luck. Found within blocks (calls jump) or between blocks
// of nearby rounds (blocks jump). Noise, drift, slow random walks and rare steps of the clock have
// one mode each; what a coarse timer makes of one duration is one mode too.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

struct Modes {
  double apart = 0;  // slower over faster, less 1
  double share = 0;  // of the rarer mode
  bool by_block = false;
};

// `blocks` are the samples of one arm's blocks in nanoseconds, all positive, in order of time.
// The rule: split the logarithms (by call: distances from the block's own middle; by block: steps
// from each block's median to the next) at their two-means split. There are two modes when what is
// left within the halves is at most a fraction of all, the rarer has a quarter of the calls, and
// the halves are over 2 % and over one and a half ticks of the timer apart. A tick is the samples'
// common divisor within 32 ns to 1 us. Needs 12 blocks.
std::optional<Modes> find_modes(std::span<const std::vector<double>> blocks);

// "the samples have two modes 20 % apart, call by call"
std::string describe(const Modes& modes);

}  // namespace assay::profiler
