// The CUDA variants of qsa_decode: which kernel each stage runs, and the table.
#include "kernels/qsa_decode/cuda_axes.h"
#include "kernels/qsa_decode/cuda_lane_cell.cuh"
#include "kernels/qsa_decode/cuda_launch.h"
#include "kernels/qsa_decode/cuda_merge.cuh"
#include "kernels/qsa_decode/cuda_one_cell.cuh"
#include "kernels/qsa_decode/cuda_split_merge.cuh"
#include "kernels/qsa_decode/cuda_tables.h"
#include "kernels/qsa_decode/cuda_two_cell.cuh"
#include "kernels/tuned/cuda_tuned.h"

#include <cstdint>
#include <span>

namespace assay::kernels::qsa_decode {
namespace {

using ChunkKernel = void (*)(Params);
using PrefetchingChunkKernel = void (*)(Params, bool);

constexpr int kNumFormats = 4;

// The device is asked only where the call leaves something to the table.
template <TunedForm kForm>
LaunchChoices choices_of(const Call& call) {
  const bool is_tuned = has_auto(call.parameters) && is_tuned_device();
  return resolve(call.parameters, is_tuned ? tuned_of(call, kForm) : TunedLaunch());
}

dim3 chunk_grid(const Shape& shape) {
  return dim3(static_cast<unsigned>(shape.num_chunks),
              kNumKvHeads,
              static_cast<unsigned>(shape.num_queries));
}

cudaError_t select_chunk(const Call& call,
                         const void* kernel,
                         std::string_view name,
                         Selected* selected) {
  const Shape& shape = shape_of(call);
  if (!is_launchable(shape)) {
    return cudaErrorInvalidValue;
  }
  selected->kernel = kernel;
  selected->name = name;
  selected->format = kFormatNames[static_cast<int>(shape.kv)];
  selected->grid = chunk_grid(shape);
  selected->block = dim3(kChunkThreads);
  return cudaSuccess;
}

cudaError_t select_one_cell(const Call& call, Selected* selected) {
  static constexpr ChunkKernel kKernels[kNumFormats] = {
      qsa_decode_one_cell_chunk_kernel<KvFormat::kFp16>,
      qsa_decode_one_cell_chunk_kernel<KvFormat::kInt8>,
      qsa_decode_one_cell_chunk_kernel<KvFormat::kQ4_0>,
      qsa_decode_one_cell_chunk_kernel<KvFormat::kK8V4>,
  };
  const int format = static_cast<int>(shape_of(call).kv);
  const void* kernel = reinterpret_cast<const void*>(kKernels[format]);
  return select_chunk(call, kernel, "one_cell_chunk", selected);
}

cudaError_t select_lane_cell(const Call& call, Selected* selected) {
  static constexpr PrefetchingChunkKernel kKernels[kNumFormats] = {
      qsa_decode_lane_cell_chunk_kernel<KvFormat::kFp16>,
      qsa_decode_lane_cell_chunk_kernel<KvFormat::kInt8>,
      qsa_decode_lane_cell_chunk_kernel<KvFormat::kQ4_0>,
      qsa_decode_lane_cell_chunk_kernel<KvFormat::kK8V4>,
  };
  const int format = static_cast<int>(shape_of(call).kv);
  selected->prefetch = choices_of<TunedForm::kLaneCell>(call).prefetch;
  const void* kernel = reinterpret_cast<const void*>(kKernels[format]);
  return select_chunk(call, kernel, "lane_cell_chunk", selected);
}

template <class Exp, int kCells>
PrefetchingChunkKernel two_cell_kernel(KvFormat format) {
  switch (format) {
    case KvFormat::kFp16:
      return qsa_decode_two_cell_chunk_kernel<KvFormat::kFp16, kCells, Exp>;
    case KvFormat::kInt8:
      return qsa_decode_two_cell_chunk_kernel<KvFormat::kInt8, kCells, Exp>;
    case KvFormat::kQ4_0:
      return qsa_decode_two_cell_chunk_kernel<KvFormat::kQ4_0, kCells, Exp>;
    case KvFormat::kK8V4:
      return qsa_decode_two_cell_chunk_kernel<KvFormat::kK8V4, kCells, Exp>;
  }
  return nullptr;
}

template <class Exp>
cudaError_t select_several_cells(const Call& call, std::string_view name, Selected* selected) {
  using ByFormat = PrefetchingChunkKernel (*)(KvFormat);
  static constexpr ByFormat kKernels[] = {two_cell_kernel<Exp, 1>,
                                          two_cell_kernel<Exp, 2>,
                                          two_cell_kernel<Exp, 4>,
                                          two_cell_kernel<Exp, 8>};
  const LaunchChoices choices = choices_of<TunedForm::kTwoCell>(call);
  if (!choices.are_valid()) {
    return cudaErrorInvalidValue;
  }
  selected->tile = kCellChoices[choices.cells];
  selected->prefetch = choices.prefetch;
  const void* kernel = reinterpret_cast<const void*>(kKernels[choices.cells](shape_of(call).kv));
  return select_chunk(call, kernel, name, selected);
}

cudaError_t select_two_cell(const Call& call, Selected* selected) {
  return select_several_cells<PolynomialExp>(call, "two_cell_chunk", selected);
}

cudaError_t select_hw_exp(const Call& call, Selected* selected) {
  return select_several_cells<HardwareExp>(call, "hw_exp_chunk", selected);
}

template <TunedForm kForm, class Exp = PolynomialExp>
cudaError_t select_merge(const Call& call, Selected* selected) {
  static constexpr ChunkKernel kBounded[] = {qsa_decode_bounded_merge_kernel<4, Exp>,
                                             qsa_decode_bounded_merge_kernel<8, Exp>,
                                             qsa_decode_bounded_merge_kernel<16, Exp>,
                                             qsa_decode_bounded_merge_kernel<32, Exp>};
  static constexpr ChunkKernel kSplit[] = {qsa_decode_split_merge_kernel<4, Exp>,
                                           qsa_decode_split_merge_kernel<8, Exp>,
                                           qsa_decode_split_merge_kernel<16, Exp>,
                                           qsa_decode_split_merge_kernel<32, Exp>};
  const Shape& shape = shape_of(call);
  const LaunchChoices choices = choices_of<kForm>(call);
  if (!is_launchable(shape) || !choices.are_valid()) {
    return cudaErrorInvalidValue;
  }
  selected->grid = dim3(kNumHeads, static_cast<unsigned>(shape.num_queries));
  selected->block = dim3(kMergeThreads);
  if (choices.merge == 0) {
    selected->name = "all_chunks_merge";
    selected->kernel = reinterpret_cast<const void*>(qsa_decode_all_chunks_merge_kernel<Exp>);
    return cudaSuccess;
  }
  selected->tile = kBatchChoices[choices.batch];
  if (choices.blocks == 0) {
    selected->name = "bounded_merge";
    selected->kernel = reinterpret_cast<const void*>(kBounded[choices.batch]);
    return cudaSuccess;
  }
  selected->name = "split_merge";
  selected->kernel = reinterpret_cast<const void*>(kSplit[choices.batch]);
  selected->grid.z = static_cast<unsigned>(kBlockChoices[choices.blocks]);
  selected->block.x = kMergeThreads / selected->grid.z;
  return cudaSuccess;
}

// ---- tables ----

// one_cell has nothing to leave open; what hw_exp does is two_cell's.
constexpr CudaStage kOneCellStages[] = {{"chunk", launch_of<select_one_cell>()},
                                        {"merge", launch_of<select_merge<TunedForm::kTwoCell>>()}};
constexpr CudaStage kTwoCellStages[] = {{"chunk", launch_of<select_two_cell>()},
                                        {"merge", launch_of<select_merge<TunedForm::kTwoCell>>()}};
constexpr CudaStage kLaneCellStages[] = {
    {"chunk", launch_of<select_lane_cell>()},
    {"merge", launch_of<select_merge<TunedForm::kLaneCell>>()}};
constexpr CudaStage kHwExpStages[] = {
    {"chunk", launch_of<select_hw_exp>()},
    {"merge", launch_of<select_merge<TunedForm::kTwoCell, HardwareExp>>()}};

constexpr int kLeastComputeCapability = 75;

constexpr CudaVariant kVariants[] = {
    {.name = "one_cell",
     .idea = "one cell at a time, a full butterfly for each head",
     .parameters = kOneCellParameters,
     .stages = kOneCellStages,
     .min_compute_capability = kLeastComputeCapability},
    {.name = "two_cell",
     .idea = "cells share each read of q, heads meet in a reduce-scatter, weights lie cell-major "
             "and values load four at a time",
     .parameters = kTwoCellParameters,
     .stages = kTwoCellStages,
     .min_compute_capability = kLeastComputeCapability},
    {.name = "lane_cell",
     .idea = "one thread per cell and three heads sums the same tree in registers",
     .parameters = kLaneCellParameters,
     .stages = kLaneCellStages,
     .min_compute_capability = kLeastComputeCapability},
    {.name = "hw_exp",
     .idea = "two_cell with the hardware exponential",
     .family = "hw_exp",
     .parameters = kTwoCellParameters,
     .stages = kHwExpStages,
     .min_compute_capability = kLeastComputeCapability},
};

}  // namespace

constinit const CudaTables kCudaTables = {.variants = kVariants, .mutants = kCudaMutants};

}  // namespace assay::kernels::qsa_decode
