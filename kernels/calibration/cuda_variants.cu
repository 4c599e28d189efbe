// The CUDA variants of calibration: the same walks as on the cpu, each thread's step the grid.
#include "kernels/calibration/cuda_tables.h"
#include "kernels/calibration/mix.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace assay::kernels::calibration {
namespace {

constexpr int kThreads = 256;

// ---- kernels ----

__device__ Walk walk_of_thread(std::int64_t end) {
  return {.begin = std::int64_t{blockIdx.x} * kThreads + threadIdx.x,
          .end = end,
          .step = std::int64_t{gridDim.x} * kThreads};
}

template <Mutation kMutation>
__global__ void __launch_bounds__(kThreads)
    calibration_plain_kernel(const __grid_constant__ Params params) {
  mix_each<kMutation>(params, walk_of_thread(params.num_elements));
}

template <Mutation kMutation>
__global__ void __launch_bounds__(kThreads)
    calibration_fours_kernel(const __grid_constant__ Params params) {
  mix_fours<kMutation>(params, walk_of_thread(num_fours(params.num_elements)));
}

// ---- launchers ----

enum LaunchParameter : std::size_t { kBlocks = kExtra + 1 };

constexpr std::int32_t kMostBlocks = 1 << 20;

using Kernel = void (*)(Params);

struct Plain {
  static constexpr std::string_view kName = "plain_mix";

  template <Mutation kMutation>
  static constexpr Kernel kKernel = calibration_plain_kernel<kMutation>;

  static std::int64_t num_places(const Shape& shape) { return shape.num_elements; }
};

struct Fours {
  static constexpr std::string_view kName = "fours_mix";

  template <Mutation kMutation>
  static constexpr Kernel kKernel = calibration_fours_kernel<kMutation>;

  static std::int64_t num_places(const Shape& shape) { return num_fours(shape.num_elements); }
};

// Blocks for all places, one a thread, unless a number is asked for; 0: not launchable.
unsigned grid_of(const Call& call, std::int64_t num_places) {
  const std::int32_t asked = call.parameters.values[kBlocks];
  const std::int32_t extra = call.parameters.values[kExtra];
  const std::int64_t enough = (num_places + kThreads - 1) / kThreads;
  if (asked < 0 || asked > kMostBlocks || extra < 0 || extra > kMostExtra || enough < 1 ||
      enough > kMostBlocks) {
    return 0;
  }
  return static_cast<unsigned>(asked == 0 ? enough : asked);
}

template <class Form, Mutation kMutation>
cudaError_t run(const Call& call, cudaStream_t stream) {
  const unsigned grid = grid_of(call, Form::num_places(shape_of(call)));
  if (grid == 0) {
    return cudaErrorInvalidValue;
  }
  if (call.trace != nullptr) {
    call.trace->kernels.emplace_back(Form::kName);
  }
  Form::template kKernel<kMutation><<<grid, kThreads, 0, stream>>>(params_of(call));
  return cudaGetLastError();
}

template <class Form, Mutation kMutation>
cudaError_t describe(const Call& call, CudaKernelInfo* info) {
  const unsigned grid = grid_of(call, Form::num_places(shape_of(call)));
  if (grid == 0) {
    return cudaErrorInvalidValue;
  }
  info->name = Form::kName;
  info->grid = dim3(grid);
  info->block = dim3(kThreads);
  info->dynamic_shared_bytes = 0;
  return describe_code(Form::template kKernel<kMutation>, info);
}

// ---- tables ----

constexpr AxisInfo kBlocksAxis = {.name = "blocks",
                                  .help = "blocks of the grid; 0: enough for all elements",
                                  .default_value = "0",
                                  .min = 0,
                                  .max = kMostBlocks};
constexpr AxisInfo kParameters[] = {extra_axis("0"), kBlocksAxis};
// Of the mutant that keeps what is to be thrown away: there has to be some.
constexpr AxisInfo kExtraParameters[] = {extra_axis("1000"), kBlocksAxis};

template <class Form, Mutation kMutation = Mutation::kNone>
constexpr CudaStage kStages[] = {
    {"mix", {.run = run<Form, kMutation>, .describe = describe<Form, kMutation>}}};

constexpr int kLeastComputeCapability = 75;

constexpr CudaVariant kVariants[] = {
    {.name = "plain",
     .idea = "one element at a time, a single chain of rounds",
     .parameters = kParameters,
     .stages = kStages<Plain>,
     .min_compute_capability = kLeastComputeCapability},
    {.name = "fours",
     .idea = "four elements at a time: 16-byte accesses and four chains side by side",
     .parameters = kParameters,
     .stages = kStages<Fours>,
     .min_compute_capability = kLeastComputeCapability},
};

// Not a multiple of four.
constexpr std::pair<std::string_view, std::string_view> kRagged[] = {{"elements", "1027"},
                                                                     {"steps", "17"}};

constexpr CudaMutant kMutants[] = {
    {.name = "one_round_less",
     .defect = "a chain ends one round early",
     .variant = "plain",
     .axes = kRagged,
     .parameters = kParameters,
     .stages = kStages<Plain, Mutation::kOneRoundLess>},
    {.name = "skips_last_element",
     .defect = "the last element is not written",
     .variant = "plain",
     .axes = kRagged,
     .parameters = kParameters,
     .stages = kStages<Plain, Mutation::kSkipsLastElement>},
    {.name = "keeps_extra_rounds",
     .defect = "the rounds that are to be thrown away are kept",
     .variant = "plain",
     .axes = kRagged,
     .parameters = kExtraParameters,
     .stages = kStages<Plain, Mutation::kKeepsExtraRounds>},
    {.name = "drops_rest",
     .defect = "elements after the last whole four are not written",
     .variant = "fours",
     .axes = kRagged,
     .parameters = kParameters,
     .stages = kStages<Fours, Mutation::kDropsRest>},
};

}  // namespace

constinit const CudaTables kCudaTables = {.variants = kVariants, .mutants = kMutants};

}  // namespace assay::kernels::calibration
