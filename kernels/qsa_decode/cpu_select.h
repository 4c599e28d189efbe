// From a choice to the function that serves it, for a vector type V.
#pragma once

#include "kernels/qsa_decode/cpu_chunk.h"
#include "kernels/qsa_decode/cpu_merge.h"

namespace assay::kernels::qsa_decode {

template <class V>
struct KernelTable {
  using Chunks = ChunkStage<V>;
  using Merges = MergeStage<V>;

  template <KvFormat kFormat, bool kHwExp>
  static ChunkKernel two_cell(std::int32_t cells_per_step) {
    switch (cells_per_step) {
      case 1:
        return &Chunks::template two_cell<kFormat, Mutation::kNone, 1, kHwExp>;
      case 2:
        return &Chunks::template two_cell<kFormat, Mutation::kNone, 2, kHwExp>;
      case 4:
        return &Chunks::template two_cell<kFormat, Mutation::kNone, 4, kHwExp>;
      case 8:
        return &Chunks::template two_cell<kFormat, Mutation::kNone, 8, kHwExp>;
      default:
        return nullptr;
    }
  }

  template <KvFormat kFormat>
  static ChunkKernel unmutated(const KernelChoice& choice) {
    switch (choice.form) {
      case ChunkForm::kOneCell:
        return &Chunks::template one_cell<kFormat, Mutation::kNone>;
      case ChunkForm::kTwoCell:
        return two_cell<kFormat, false>(choice.cells_per_step);
      case ChunkForm::kLaneCell:
        return &Chunks::template lane_cell<kFormat>;
      case ChunkForm::kHwExp:
        return two_cell<kFormat, true>(choice.cells_per_step);
    }
    return nullptr;
  }

  template <KvFormat kFormat, Mutation kMutation>
  static constexpr ChunkKernel kMutatedOne = &Chunks::template one_cell<kFormat, kMutation>;

  template <KvFormat kFormat, Mutation kMutation>
  static constexpr ChunkKernel kMutatedTwo =
      &Chunks::template two_cell<kFormat, kMutation, 2, false>;

  // One form and one format each.
  static ChunkKernel mutated(const KernelChoice& choice) {
    const KvFormat planted = choice.mutation == Mutation::kWrongPartner     ? KvFormat::kFp16
                             : choice.mutation == Mutation::kNibblesSwapped ? KvFormat::kQ4_0
                                                                            : KvFormat::kInt8;
    if (choice.kv != planted) {
      return nullptr;
    }
    switch (choice.mutation) {
      case Mutation::kDropsLastCell:
        return kMutatedOne<KvFormat::kInt8, Mutation::kDropsLastCell>;
      case Mutation::kAdmitsMaskedCell:
        return kMutatedOne<KvFormat::kInt8, Mutation::kAdmitsMaskedCell>;
      case Mutation::kMaskedTakesNeighbour:
        return kMutatedTwo<KvFormat::kInt8, Mutation::kMaskedTakesNeighbour>;
      case Mutation::kWrongPartner:
        return kMutatedTwo<KvFormat::kFp16, Mutation::kWrongPartner>;
      case Mutation::kWeightsHeadMajor:
        return kMutatedTwo<KvFormat::kInt8, Mutation::kWeightsHeadMajor>;
      case Mutation::kFoldsOutOfOrder:
        return kMutatedTwo<KvFormat::kInt8, Mutation::kFoldsOutOfOrder>;
      case Mutation::kScaleGroupOffByOne:
        return kMutatedTwo<KvFormat::kInt8, Mutation::kScaleGroupOffByOne>;
      case Mutation::kNibblesSwapped:
        return kMutatedTwo<KvFormat::kQ4_0, Mutation::kNibblesSwapped>;
      case Mutation::kReadsNeighbourSelection:
        return kMutatedTwo<KvFormat::kInt8, Mutation::kReadsNeighbourSelection>;
      case Mutation::kScoreScaleOffBySixteenth:
        return kMutatedTwo<KvFormat::kInt8, Mutation::kScoreScaleOffBySixteenth>;
      default:
        return nullptr;
    }
  }

  static ChunkKernel chunk(const KernelChoice& choice) {
    if (choice.mutation != Mutation::kNone) {
      return mutated(choice);
    }
    switch (choice.kv) {
      case KvFormat::kFp16:
        return unmutated<KvFormat::kFp16>(choice);
      case KvFormat::kInt8:
        return unmutated<KvFormat::kInt8>(choice);
      case KvFormat::kQ4_0:
        return unmutated<KvFormat::kQ4_0>(choice);
      case KvFormat::kK8V4:
        return unmutated<KvFormat::kK8V4>(choice);
    }
    return nullptr;
  }

  static MergeKernel merge(const MergeChoice& choice) {
    switch (choice.mutation) {
      case Mutation::kNone:
        break;
      case Mutation::kMergeStopsEarly:
        return &Merges::template bounded<false, Mutation::kMergeStopsEarly>;
      case Mutation::kMergeReadsPastBound:
        return &Merges::template bounded<false, Mutation::kMergeReadsPastBound>;
      case Mutation::kMergeFoldsInReverse:
        return &Merges::template all_chunks<false, Mutation::kMergeFoldsInReverse>;
      case Mutation::kLeavesOutputTailUnwritten:
        return &Merges::template bounded<false, Mutation::kLeavesOutputTailUnwritten>;
      default:
        return nullptr;
    }
    const bool takes_all = choice.form == MergeForm::kAllChunks;
    if (choice.hw_exp) {
      return takes_all ? &Merges::template all_chunks<true, Mutation::kNone>
                       : &Merges::template bounded<true, Mutation::kNone>;
    }
    return takes_all ? &Merges::template all_chunks<false, Mutation::kNone>
                     : &Merges::template bounded<false, Mutation::kNone>;
  }
};

}  // namespace assay::kernels::qsa_decode
