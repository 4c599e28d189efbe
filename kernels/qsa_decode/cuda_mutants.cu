// The CUDA mutants of qsa_decode: two_cell with one planted defect, in one format each.
#include "kernels/qsa_decode/cuda_launch.h"
#include "kernels/qsa_decode/cuda_merge.cuh"
#include "kernels/qsa_decode/cuda_tables.h"
#include "kernels/qsa_decode/cuda_two_cell.cuh"

#include <utility>

namespace assay::kernels::qsa_decode {
namespace {

constexpr int kCells = 2;
constexpr int kBatch = 16;

template <KvFormat kFormat, Mutation kMutation>
cudaError_t select_chunk(const Call& call, Selected* selected) {
  using Kernel = void (*)(Params, bool);
  const Kernel kernel = qsa_decode_two_cell_chunk_kernel<kFormat, kCells, PolynomialExp, kMutation>;
  const Shape& shape = shape_of(call);
  if (!is_launchable(shape) || shape.kv != kFormat) {
    return cudaErrorInvalidValue;
  }
  selected->kernel = reinterpret_cast<const void*>(kernel);
  selected->name = "mutant_chunk";
  selected->format = kFormatNames[static_cast<int>(kFormat)];
  selected->tile = kCells;
  selected->grid = dim3(static_cast<unsigned>(shape.num_chunks),
                        kNumKvHeads,
                        static_cast<unsigned>(shape.num_queries));
  selected->block = dim3(kChunkThreads);
  return cudaSuccess;
}

template <Mutation kMutation>
cudaError_t select_merge(const Call& call, Selected* selected) {
  using Kernel = void (*)(Params);
  const Kernel kernel = qsa_decode_bounded_merge_kernel<kBatch, PolynomialExp, kMutation>;
  const Shape& shape = shape_of(call);
  if (!is_launchable(shape)) {
    return cudaErrorInvalidValue;
  }
  selected->kernel = reinterpret_cast<const void*>(kernel);
  selected->name = "mutant_merge";
  selected->tile = kBatch;
  selected->grid = dim3(kNumHeads, static_cast<unsigned>(shape.num_queries));
  selected->block = dim3(kMergeThreads);
  return cudaSuccess;
}

constexpr bool is_in_merge(Mutation mutation) {
  return mutation == Mutation::kMergeStopsEarly || mutation == Mutation::kMergeReadsPastBound ||
         mutation == Mutation::kMergeFoldsInReverse ||
         mutation == Mutation::kLeavesOutputTailUnwritten;
}

template <KvFormat kFormat, Mutation kMutation>
constexpr CudaStage kStages[] = {
    {"chunk",
     launch_of<select_chunk<kFormat, is_in_merge(kMutation) ? Mutation::kNone : kMutation>>()},
    {"merge", launch_of<select_merge<is_in_merge(kMutation) ? kMutation : Mutation::kNone>>()}};

// Two queries whose selections end inside a chunk and inside the capacity, with a page that is not
// resident in each chunk.
constexpr std::pair<std::string_view, std::string_view> kInt8Axes[] = {
    {"kv", "int8"}, {"n_q", "2"}, {"width", "331"}, {"cap", "512"}, {"resident", "cells"}};
constexpr std::pair<std::string_view, std::string_view> kQ4Axes[] = {
    {"kv", "q4_0"}, {"n_q", "2"}, {"width", "331"}, {"cap", "512"}, {"resident", "cells"}};

template <Mutation kMutation, KvFormat kFormat = KvFormat::kInt8>
constexpr CudaMutant mutant(std::string_view name, std::string_view defect) {
  CudaMutant row = {.name = name, .defect = defect, .variant = "two_cell"};
  row.axes = kInt8Axes;
  if constexpr (kFormat == KvFormat::kQ4_0) {
    row.axes = kQ4Axes;
  }
  row.stages = kStages<kFormat, kMutation>;
  return row;
}

}  // namespace

constinit const CudaMutant kCudaMutants[kNumCudaMutants] = {
    mutant<Mutation::kDropsLastCell>("drops_last_cell", "the last cell of a chunk is dropped"),
    mutant<Mutation::kAdmitsMaskedCell>(
        "admits_masked_cell", "a cell that is not resident is attended as physical page 0"),
    mutant<Mutation::kMaskedTakesNeighbour>("masked_takes_neighbour",
                                            "a masked cell of a pair masks the other one too"),
    mutant<Mutation::kWrongPartner>("wrong_partner",
                                    "one level of the reduction meets a wrong partner"),
    mutant<Mutation::kWeightsHeadMajor>("weights_head_major",
                                        "weights are read head-major where they are cell-major"),
    mutant<Mutation::kFoldsOutOfOrder>("folds_out_of_order",
                                       "values of a group of cells are folded last to first"),
    mutant<Mutation::kMergeStopsEarly>("merge_stops_early",
                                       "the merge leaves out the last live chunk"),
    mutant<Mutation::kMergeReadsPastBound>("merge_reads_past_bound",
                                           "the merge folds in the chunk after the last one"),
    mutant<Mutation::kMergeFoldsInReverse>("merge_folds_in_reverse",
                                           "the merge folds chunks last to first"),
    mutant<Mutation::kScaleGroupOffByOne>("scale_group_off_by_one",
                                          "keys take the scale of the next group"),
    mutant<Mutation::kNibblesSwapped, KvFormat::kQ4_0>("nibbles_swapped",
                                                       "low and high nibbles change places"),
    mutant<Mutation::kReadsNeighbourSelection>("reads_neighbour_selection",
                                               "a query reads the selection of the next one"),
    mutant<Mutation::kScoreScaleOffBySixteenth>("score_scale_off_by_sixteenth",
                                                "the score scale is 1/16 too large"),
    mutant<Mutation::kLeavesOutputTailUnwritten>("leaves_output_tail_unwritten",
                                                 "the last dims of the output are not written"),
};

}  // namespace assay::kernels::qsa_decode
