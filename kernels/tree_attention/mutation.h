// The defects that mutants carry, each planted by one `if constexpr`.
#pragma once

#include <cstdint>

namespace assay::kernels::tree_attention {

enum class Mutation : std::uint8_t {
  kNone,
  kCutsPaths,                  // a path ends at depth 3
  kScaleOffBySixteenth,        // the score scale is 1/16 too large
  kDropsFourthSlice,           // a group's fourth slice is left out
  kDropsFourthSliceInChunk,    // the same, past the first batch of groups only
  kReadsNextTile,              // a key tile's values are those of the next tile
  kWrongHeadMap,               // query head h reads key head h mod HK
  kGroupsAnchoredAtCommitted,  // groups are counted from the committed length
  kReadsNeighbourCache,        // a stream reads the cache table of the next one
  kReadsPastCommitted,         // the first key of a path is taken from the cache, past its end
  kMergesInReverse,            // the merge folds groups last to first
  kSlicesInReverse,            // a group's slices are folded last to first
  kContractsOneFold,           // the fold of slices fuses the other of its two products
  kKeepsMaskedValues,          // the values of masked keys are not zeroed
  kLeavesTailUnwritten,        // the last 8 dims of the output are not written
  kOverwritesTileBeingRead,    // a tile is fetched into the stage that is being read
};

}  // namespace assay::kernels::tree_attention
