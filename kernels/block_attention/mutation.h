// The defects that mutants carry, each planted by one `if constexpr`.
#pragma once

#include <cstdint>

namespace assay::kernels::block_attention {

enum class Mutation : std::uint8_t {
  kNone,
  kWindowOffByOne,         // the window reaches one context key further
  kCausalOffByOne,         // a row sees the block key after its own
  kScaleOffBySixteenth,    // the score scale is 1/16 too large
  kReadsNextTile,          // a key tile's values are those of the next tile
  kWrongHeadMap,           // query head h reads key head h mod HK
  kKeepsMaskedValues,      // the values of masked keys are not zeroed
  kDropsFourthSlice,       // a group's fourth slice is left out
  kMergesInReverse,        // the merge folds groups last to first
  kReadsNeighbourContext,  // a stream reads the context of the next one
};

}  // namespace assay::kernels::block_attention
