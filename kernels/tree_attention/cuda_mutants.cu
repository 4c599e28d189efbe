// The CUDA mutants of tree_attention: `staged` with one defect each.
#include "kernels/tree_attention/cuda_kernels.cuh"
#include "kernels/tree_attention/cuda_stages.cuh"
#include "kernels/tree_attention/cuda_tables.h"

#include <span>
#include <string_view>
#include <utility>

namespace assay::kernels::tree_attention {
namespace {

using attention::launch_of;
using Axis = std::pair<std::string_view, std::string_view>;

// Two short streams, their rows up to eight deep; unread entries are NaN.
constexpr Axis kShort[] = {
    {"heads", "12"}, {"kv_heads", "2"}, {"streams", "2"}, {"rows", "8"}, {"committed", "1003"}};
// Nine groups: two runs, and more than a batch of the merge.
constexpr Axis kLong[] = {{"heads", "8"}, {"kv_heads", "2"}, {"rows", "2"}, {"committed", "4400"}};
constexpr Axis kAcrossGroups[] = {
    {"heads", "12"}, {"kv_heads", "2"}, {"rows", "16"}, {"committed", "500"}, {"plan", "2048"}};

constexpr void fill_parameters(AxisInfo (&axes)[11], std::string_view form) {
  axes[kForm] = form_axis(form);
  axes[kSlots] = kSlotsAxis;
  axes[kStages] = attention::kStagesAxis;
  axes[kTileKeys] = attention::tile_axis("32");
  axes[kShared] = kSharedAxis;
  axes[kSpill] = attention::kSpillAxis;
  axes[kCapacity] = kCapacityAxis;
  axes[kSms] = attention::kSmsAxis;
  axes[kMergeBatch] = attention::kMergeBatchAxis;
  axes[kStoresResult] = attention::kResultAxis;
  axes[kBlocksPerSm] = attention::kBlocksPerSmAxis;
}

struct Parameters {
  AxisInfo axes[11] = {};

  explicit constexpr Parameters(std::string_view form) { fill_parameters(axes, form); }
};

constexpr Parameters kFourWarpForm("four_warp");
constexpr Parameters kOneWarpForm("one_warp");

// Whether a defect lies in the merge, the attend kernel or both.
constexpr bool is_in_merge(Mutation mutation) {
  return mutation == Mutation::kDropsFourthSlice ||
         mutation == Mutation::kDropsFourthSliceInChunk || mutation == Mutation::kMergesInReverse ||
         mutation == Mutation::kLeavesTailUnwritten;
}

constexpr bool is_in_both(Mutation mutation) {
  return mutation == Mutation::kCutsPaths || mutation == Mutation::kGroupsAnchoredAtCommitted;
}

// Mutants serve head dim 128 only.
template <Mutation kMutation>
const void* mutant_kernel(std::int32_t dim) {
  if constexpr (is_in_merge(kMutation)) {
    return staged_kernel(dim);
  } else {
    using Exp = attention::PolynomialExp;
    return dim != 128
               ? nullptr
               : reinterpret_cast<const void*>(tree_attention_staged_kernel<Exp, 128, kMutation>);
  }
}

template <Mutation kMutation>
const void* mutant_merge_kernel(std::int32_t dim, std::int32_t batch) {
  if constexpr (is_in_merge(kMutation) || is_in_both(kMutation)) {
    return dim != 128
               ? nullptr
               : reinterpret_cast<const void*>(tree_attention_merge_kernel<4, 128, kMutation>);
  } else {
    return merge_kernel(dim, batch);
  }
}

template <Mutation kMutation>
constexpr CudaStage kLaunches[] = {
    {"attend", launch_of<StagedAttend<mutant_kernel<kMutation>>>()},
    {"merge", launch_of<StagedMerge<mutant_merge_kernel<kMutation>>>()}};

template <Mutation kMutation>
constexpr CudaMutant mutant(std::string_view name,
                            std::string_view defect,
                            std::span<const Axis> axes,
                            const Parameters& parameters = kFourWarpForm) {
  return {.name = name,
          .defect = defect,
          .variant = "staged",
          .axes = axes,
          .parameters = parameters.axes,
          .stages = kLaunches<kMutation>};
}

}  // namespace

constinit const CudaMutant kCudaMutants[kNumCudaMutants] = {
    mutant<Mutation::kCutsPaths>("cuts_paths", "a path ends at depth 3", kShort),
    mutant<Mutation::kScaleOffBySixteenth>(
        "scale_off_by_sixteenth", "the score scale is 1/16 too large", kShort),
    mutant<Mutation::kDropsFourthSlice>(
        "drops_fourth_slice", "the merge leaves out a group's fourth slice", kShort, kOneWarpForm),
    mutant<Mutation::kDropsFourthSliceInChunk>(
        "drops_fourth_slice_in_chunk",
        "the merge leaves out a group's fourth slice past its first batch",
        kLong,
        kOneWarpForm),
    mutant<Mutation::kReadsNextTile>(
        "reads_next_tile", "a key tile's values are those of the next tile", kShort),
    mutant<Mutation::kOverwritesTileBeingRead>(
        "overwrites_tile_being_read",
        "a tile is fetched into the stage that is being read",
        kShort),
    mutant<Mutation::kOverwritesTileBeingRead>(
        "overwrites_tile_being_read_by_one_warp",
        "the same in a block of one warp with its own number of stages",
        kShort,
        kOneWarpForm),
    mutant<Mutation::kWrongHeadMap>(
        "wrong_head_map", "query head h reads key head h mod the number of key heads", kShort),
    mutant<Mutation::kGroupsAnchoredAtCommitted>("groups_anchored_at_committed",
                                                 "groups are counted from the committed length",
                                                 kAcrossGroups),
    mutant<Mutation::kReadsNeighbourCache>(
        "reads_neighbour_cache", "a stream reads the cache of the next one", kShort),
    mutant<Mutation::kReadsPastCommitted>(
        "reads_past_committed", "the first key of a path is taken from the cache", kShort),
    mutant<Mutation::kMergesInReverse>(
        "merges_in_reverse", "the merge folds groups last to first", kLong),
    mutant<Mutation::kSlicesInReverse>(
        "slices_in_reverse", "a group's slices are folded last to first", kShort),
    mutant<Mutation::kContractsOneFold>(
        "contracts_one_fold", "the fold of slices fuses the other of its two products", kShort),
    mutant<Mutation::kKeepsMaskedValues>(
        "keeps_masked_values", "the values of masked keys are not zeroed", kShort),
    mutant<Mutation::kLeavesTailUnwritten>(
        "leaves_tail_unwritten", "the last 8 dims of the output are not written", kShort),
};

}  // namespace assay::kernels::tree_attention
