// The defects that mutants carry, each planted by one `if constexpr`.
#pragma once

#include <cstdint>

namespace assay::kernels::qsa_decode {

enum class Mutation : std::uint8_t {
  kNone,
  kDropsLastCell,              // the last cell of a chunk is dropped
  kAdmitsMaskedCell,           // a cell that is not resident is attended as physical page 0
  kMaskedTakesNeighbour,       // a masked cell of a pair masks the other one too
  kWrongPartner,               // one level of the reduction meets a wrong partner
  kWeightsHeadMajor,           // weights are read head-major where they are cell-major
  kFoldsOutOfOrder,            // values of a group of cells are folded last to first
  kMergeStopsEarly,            // the merge leaves out the last live chunk
  kMergeReadsPastBound,        // the merge folds in the chunk after the last one
  kMergeFoldsInReverse,        // the merge folds chunks last to first
  kScaleGroupOffByOne,         // values take the scale of the next group
  kNibblesSwapped,             // low and high nibbles change places
  kReadsNeighbourSelection,    // a query reads the selection of the next one
  kScoreScaleOffBySixteenth,   // the score scale is 1/16 too large
  kLeavesOutputTailUnwritten,  // the last dims of the output are not written
};

}  // namespace assay::kernels::qsa_decode
