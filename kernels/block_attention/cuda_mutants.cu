// The CUDA mutants of block_attention: `staged` with one defect each.
#include "kernels/block_attention/cuda_kernels.cuh"
#include "kernels/block_attention/cuda_stages.cuh"
#include "kernels/block_attention/cuda_tables.h"

#include <span>
#include <string_view>
#include <utility>

namespace assay::kernels::block_attention {
namespace {

using attention::launch_of;
using Axis = std::pair<std::string_view, std::string_view>;

// A window that starts inside a tensor-core step; what it hides is NaN.
constexpr Axis kShort[] = {
    {"heads", "8"}, {"kv_heads", "2"}, {"streams", "2"}, {"context", "601"}, {"window", "500"}};
constexpr Axis kCausal[] = {{"heads", "8"},
                            {"kv_heads", "2"},
                            {"streams", "2"},
                            {"context", "601"},
                            {"window", "500"},
                            {"causal", "yes"}};
// Nine groups: two runs.
constexpr Axis kLong[] = {
    {"heads", "8"}, {"kv_heads", "2"}, {"width", "2"}, {"context", "4400"}, {"window", "-1"}};

// Mutants serve head dim 128 only. A defect of the range lies in both kernels.
template <Mutation kMutation>
const void* mutant_kernel(std::int32_t dim) {
  using Exp = attention::PolynomialExp;
  return dim != 128
             ? nullptr
             : reinterpret_cast<const void*>(block_attention_staged_kernel<Exp, 128, kMutation>);
}

template <Mutation kMutation>
const void* mutant_merge_kernel(std::int32_t dim, std::int32_t) {
  return dim != 128
             ? nullptr
             : reinterpret_cast<const void*>(block_attention_merge_kernel<8, 128, kMutation>);
}

template <Mutation kMutation>
constexpr CudaStage kLaunches[] = {
    {"attend", launch_of<StagedAttend<mutant_kernel<kMutation>>>()},
    {"merge", launch_of<StagedMerge<mutant_merge_kernel<kMutation>>>()}};

template <Mutation kMutation>
constexpr CudaMutant mutant(std::string_view name,
                            std::string_view defect,
                            std::span<const Axis> axes) {
  return {.name = name,
          .defect = defect,
          .variant = "staged",
          .axes = axes,
          .parameters = kStagedParameters,
          .stages = kLaunches<kMutation>};
}

}  // namespace

constinit const CudaMutant kCudaMutants[kNumCudaMutants] = {
    mutant<Mutation::kWindowOffByOne>(
        "window_off_by_one", "the window reaches one context key further", kShort),
    mutant<Mutation::kCausalOffByOne>(
        "causal_off_by_one", "a row sees the block key after its own", kCausal),
    mutant<Mutation::kScaleOffBySixteenth>(
        "scale_off_by_sixteenth", "the score scale is 1/16 too large", kShort),
    mutant<Mutation::kReadsNextTile>(
        "reads_next_tile", "a key tile's values are those of the next tile", kShort),
    mutant<Mutation::kWrongHeadMap>(
        "wrong_head_map", "query head h reads key head h mod the number of key heads", kShort),
    mutant<Mutation::kKeepsMaskedValues>(
        "keeps_masked_values", "the values of masked keys are not zeroed", kShort),
    mutant<Mutation::kDropsFourthSlice>(
        "drops_fourth_slice", "a group's fourth slice is left out", kLong),
    mutant<Mutation::kMergesInReverse>(
        "merges_in_reverse", "the merge folds groups last to first", kLong),
    mutant<Mutation::kReadsNeighbourContext>(
        "reads_neighbour_context", "a stream reads the context of the next one", kShort),
};

}  // namespace assay::kernels::block_attention
