// Every CUDA variant, launch parameter and format against a scalar model of the bit contract: the
// partials and the output by bytes, with NaN-poisoned outputs and guard bands around all tensors.
#include "kernels/qsa_decode/cuda_tables.h"
#include "kernels/tuned/cuda_tuned.h"
#include "tests/kernels/qsa_decode_model.h"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace assay::kernels::qsa_decode {
namespace {

constexpr std::size_t kGuardBytes = 256;
constexpr int kGuard = 0xA5;
constexpr int kPoison = 0xFF;

#define ASSERT_CUDA(call) ASSERT_EQ(cudaSuccess, (call))

class QsaDecodeGpu : public testing::Test {
 protected:
  void SetUp() override {
    int num_devices = 0;
    if (cudaGetDeviceCount(&num_devices) != cudaSuccess || num_devices == 0) {
      GTEST_SKIP() << "no CUDA device";
    }
  }
};

struct CudaFree {
  void operator()(std::byte* memory) const noexcept { cudaFree(memory); }
};

// A problem's tensors on the device, each between two guard bands.
class DeviceTensors {
 public:
  explicit DeviceTensors(const ModelProblem& problem) : problem_(problem) {
    for (std::size_t i = 0; i < kNumTensors; ++i) {
      const std::size_t num_bytes = problem.num_bytes(i);
      void* memory = nullptr;
      EXPECT_EQ(cudaSuccess, cudaMalloc(&memory, num_bytes + 2 * kGuardBytes));
      memory_[i].reset(static_cast<std::byte*>(memory));
      pointers_[i] = memory_[i].get() + kGuardBytes;
      EXPECT_EQ(cudaSuccess, cudaMemset(memory, kGuard, num_bytes + 2 * kGuardBytes));
      std::vector<std::byte> bytes(num_bytes);
      problem.fill_input(i, bytes.data());
      EXPECT_EQ(cudaSuccess,
                cudaMemcpy(pointers_[i], bytes.data(), num_bytes, cudaMemcpyHostToDevice));
    }
  }

  void poison() {
    for (const Tensor tensor : {kOut, kAcc, kM, kL}) {
      EXPECT_EQ(cudaSuccess, cudaMemset(pointers_[tensor], kPoison, problem_.num_bytes(tensor)));
    }
  }

  std::vector<float> read(Tensor tensor) const {
    std::vector<float> values(problem_.num_bytes(tensor) / sizeof(float));
    EXPECT_EQ(
        cudaSuccess,
        cudaMemcpy(
            values.data(), pointers_[tensor], problem_.num_bytes(tensor), cudaMemcpyDeviceToHost));
    return values;
  }

  bool guards_are_whole() const {
    for (std::size_t i = 0; i < kNumTensors; ++i) {
      std::vector<std::byte> guards(2 * kGuardBytes);
      EXPECT_EQ(cudaSuccess,
                cudaMemcpy(guards.data(), memory_[i].get(), kGuardBytes, cudaMemcpyDeviceToHost));
      EXPECT_EQ(cudaSuccess,
                cudaMemcpy(guards.data() + kGuardBytes,
                           memory_[i].get() + kGuardBytes + problem_.num_bytes(i),
                           kGuardBytes,
                           cudaMemcpyDeviceToHost));
      for (const std::byte guard : guards) {
        if (guard != std::byte{kGuard}) {
          return false;
        }
      }
    }
    return true;
  }

  void* const* pointers() const { return pointers_.data(); }

 private:
  const ModelProblem& problem_;
  std::array<std::unique_ptr<std::byte, CudaFree>, kNumTensors> memory_;
  std::array<void*, kNumTensors> pointers_ = {};
};

Call call_of(const ModelProblem& problem,
             const DeviceTensors* device = nullptr,
             const LaunchParameters& parameters = {},
             Trace* trace = nullptr) {
  return {.problem = &problem,
          .tensors = device == nullptr ? nullptr : device->pointers(),
          .parameters = parameters,
          .trace = trace};
}

void run_stages(std::span<const CudaStage> stages, const Call& call) {
  for (const CudaStage& stage : stages) {
    ASSERT_CUDA(stage.launch(call, nullptr)) << stage.name;
  }
  ASSERT_CUDA(cudaDeviceSynchronize());
}

std::int64_t num_differing(std::span<const float> a, std::span<const float> b) {
  std::int64_t differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differing += bits_of(a[i]) != bits_of(b[i]) ? 1 : 0;
  }
  return differing;
}

// Differing elements of out, m, l and of the acc of chunks within the width.
std::int64_t num_differing(const DeviceTensors& device, const ModelResult& model) {
  std::int64_t differing = num_differing(device.read(kOut), model.out) +
                           num_differing(device.read(kM), model.m) +
                           num_differing(device.read(kL), model.l);
  const std::vector<float> acc = device.read(kAcc);
  constexpr std::size_t kTileFloats = kGroup * kHeadDim;
  for (std::size_t tile = 0; tile < model.acc_is_live.size(); ++tile) {
    if (model.acc_is_live[tile]) {
      differing += num_differing(std::span(acc).subspan(tile * kTileFloats, kTileFloats),
                                 std::span(model.acc).subspan(tile * kTileFloats, kTileFloats));
    }
  }
  return differing;
}

// Every combination of the choices of a row's parameters, which are what `auto` can come to.
std::vector<LaunchParameters> combinations(std::span<const AxisInfo> parameters) {
  std::vector<LaunchParameters> all(1);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<LaunchParameters> longer;
    for (const LaunchParameters& shorter : all) {
      for (std::size_t choice = 0; choice < parameters[i].choices.size(); ++choice) {
        if (parameters[i].choices[choice] == "auto") {
          continue;
        }
        longer.push_back(shorter);
        longer.back().values[i] = static_cast<std::int32_t>(choice);
      }
    }
    all = std::move(longer);
  }
  return all;
}

LaunchParameters parameters_of(std::span<const AxisInfo> axes, const std::vector<Setting>& given) {
  LaunchParameters parameters;
  const std::vector<Setting> settings = complete_settings(axes, given).value();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    parameters.values[i] = static_cast<std::int32_t>(
        std::ranges::find(axes[i].choices, settings[i].second) - axes[i].choices.begin());
  }
  return parameters;
}

std::vector<ModelSetup> setups(KvFormat kv) {
  return {
      {.kv = kv, .cap = 512, .widths = {331, 64, 512}, .one_masked_page_in = 8},
      {.kv = kv, .cap = 2112, .widths = {2051}},
      {.kv = kv, .cap = 100, .page_size = 64, .widths = {100}, .step_entry = true},
      {.kv = kv,
       .cap = 256,
       .widths = {0, 1, 193, 250},
       .one_masked_page_in = 4,
       .masked_chunk = 1},
      {.kv = kv, .cap = 128, .widths = {300, 65}, .one_masked_page_in = 1},
  };
}

constexpr KvFormat kFormats[] = {
    KvFormat::kFp16, KvFormat::kInt8, KvFormat::kQ4_0, KvFormat::kK8V4};

std::string text_of(std::string_view variant, const LaunchParameters& parameters) {
  std::string text(variant);
  for (const std::int32_t value : parameters.values) {
    text += " " + std::to_string(value);
  }
  return text;
}

class TooManyQueries : public ModelProblem {
 public:
  TooManyQueries() : ModelProblem({.cap = 64, .widths = {1}}), shape_(ModelProblem::shape()) {
    shape_.num_queries = 65'536;
  }

  const Shape& shape() const override { return shape_; }

 private:
  Shape shape_;
};

// One that the table has an entry for.
class TunedProblem : public ModelProblem {
 public:
  using ModelProblem::ModelProblem;

  TunedLaunch tuned(TunedForm form) const override {
    return {.cells_per_step = 8,
            .merge_batch = form == TunedForm::kTwoCell ? 32 : 4,
            .merge_blocks = 4,
            .prefetch = true};
  }
};

TEST_F(QsaDecodeGpu, RefusesAShapeThatNoGridHolds) {
  const TooManyQueries problem;
  for (const CudaVariant& variant : kCudaTables.variants) {
    for (const CudaStage& stage : variant.stages) {
      EXPECT_EQ(cudaErrorInvalidValue, stage.launch(call_of(problem), nullptr)) << variant.name;
    }
  }
}

TEST_F(QsaDecodeGpu, EveryMutantIsRejectedByItsBits) {
  ASSERT_EQ(14U, kCudaTables.mutants.size());
  for (const CudaMutant& mutant : kCudaTables.mutants) {
    const bool is_q4 = mutant.axes.front().second == "q4_0";
    const ModelProblem problem({.kv = is_q4 ? KvFormat::kQ4_0 : KvFormat::kInt8,
                                .cap = 512,
                                .widths = {331, 331},
                                .one_masked_page_in = 8});
    DeviceTensors device(problem);
    device.poison();
    run_stages(mutant.stages, call_of(problem, &device));
    EXPECT_GT(num_differing(device, model_of(problem)), 0) << mutant.name;
    EXPECT_TRUE(device.guards_are_whole()) << mutant.name;
  }
}

TEST_F(QsaDecodeGpu, EveryVariantParameterAndFormatHasTheBitsOfTheModel) {
  for (const KvFormat kv : kFormats) {
    for (const ModelSetup& setup : setups(kv)) {
      const ModelProblem problem(setup);
      const ModelResult model = model_of(problem);
      DeviceTensors device(problem);
      for (const CudaVariant& variant : kCudaTables.variants) {
        if (variant.family != kBaselineFamily) {
          continue;
        }
        for (const LaunchParameters& parameters : combinations(variant.parameters)) {
          device.poison();
          Trace trace;
          run_stages(variant.stages, call_of(problem, &device, parameters, &trace));
          EXPECT_EQ(variant.stages.size(), trace.kernels.size());
          EXPECT_EQ(0, num_differing(device, model))
              << text_of(variant.name, parameters) << " kv " << static_cast<int>(kv) << " cap "
              << setup.cap << " runs " << trace.kernels.front();
        }
      }
      EXPECT_TRUE(device.guards_are_whole());
    }
  }
}

TEST_F(QsaDecodeGpu, WhatIsLeftOpenRunsWhatIsTunedOnADeviceOfTheTable) {
  const TunedProblem problem({.cap = 512, .widths = {331, 64, 512}, .one_masked_page_in = 8});
  const ModelResult model = model_of(problem);
  DeviceTensors device(problem);
  for (const CudaVariant& variant : kCudaTables.variants) {
    if (variant.family != kBaselineFamily || variant.name == "one_cell") {
      continue;
    }
    const bool is_lane = variant.name == "lane_cell";
    std::vector<Setting> wanted = {
        {"merge_batch", "16"}, {"merge_blocks", "1"}, {"prefetch", "off"}};
    if (is_tuned_device()) {
      wanted = {{"merge_batch", is_lane ? "4" : "32"}, {"merge_blocks", "4"}, {"prefetch", "l2"}};
    }
    if (!is_lane) {
      wanted.emplace_back("cells_per_step", is_tuned_device() ? "8" : "2");
    }
    std::vector<Trace> traces;
    for (const std::vector<Setting>& given : {std::vector<Setting>(), wanted}) {
      device.poison();
      run_stages(
          variant.stages,
          call_of(
              problem, &device, parameters_of(variant.parameters, given), &traces.emplace_back()));
      EXPECT_EQ(0, num_differing(device, model)) << variant.name;
    }
    EXPECT_EQ(traces.back().kernels, traces.front().kernels) << variant.name;
    CudaKernelInfo open;
    CudaKernelInfo given;
    const CudaLaunch& merge = variant.stages.back().launch;
    ASSERT_CUDA(
        merge.describe(call_of(problem, nullptr, parameters_of(variant.parameters, {})), &open));
    ASSERT_CUDA(merge.describe(call_of(problem, nullptr, parameters_of(variant.parameters, wanted)),
                               &given));
    EXPECT_EQ(given.grid.z, open.grid.z) << variant.name;
  }
}

// Small enough for a race checker: the first and the last combination of each variant's parameters.
TEST_F(QsaDecodeGpu, RunsEachVariantAndFormatOnOneWorkload) {
  for (const KvFormat kv : kFormats) {
    const ModelProblem problem({.kv = kv, .cap = 128, .widths = {97}, .one_masked_page_in = 8});
    const ModelResult model = model_of(problem);
    DeviceTensors device(problem);
    for (const CudaVariant& variant : kCudaTables.variants) {
      const std::vector<LaunchParameters> all = combinations(variant.parameters);
      for (const LaunchParameters& parameters : {all.front(), all.back()}) {
        device.poison();
        run_stages(variant.stages, call_of(problem, &device, parameters));
        EXPECT_EQ(variant.family == kBaselineFamily, num_differing(device, model) == 0)
            << text_of(variant.name, parameters) << " kv " << static_cast<int>(kv);
      }
    }
    EXPECT_TRUE(device.guards_are_whole());
  }
}

TEST_F(QsaDecodeGpu, TheHardwareExponentialIsCloseAndHasOtherBits) {
  const CudaVariant& variant = kCudaTables.variants.back();
  ASSERT_EQ("hw_exp", variant.family);
  for (const KvFormat kv : kFormats) {
    const ModelProblem problem({.kv = kv, .cap = 512, .widths = {500, 77}});
    const ModelResult model = model_of(problem);
    DeviceTensors device(problem);
    for (const LaunchParameters& parameters : combinations(variant.parameters)) {
      device.poison();
      run_stages(variant.stages, call_of(problem, &device, parameters));
      EXPECT_GT(num_differing(device, model), 0);
      const std::vector<float> out = device.read(kOut);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_NEAR(model.out[i], out[i], 1e-4F) << text_of(variant.name, parameters);
      }
    }
  }
}

TEST_F(QsaDecodeGpu, ACapturedCallFollowsWidthsThatChangeOnTheDevice) {
  const ModelProblem captured({.cap = 512, .widths = {100, 512}});
  const ModelProblem replayed({.cap = 512, .widths = {449, 64}});
  DeviceTensors device(captured);
  for (const CudaVariant& variant : kCudaTables.variants) {
    if (variant.family != kBaselineFamily) {
      continue;
    }
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    const LaunchParameters parameters = combinations(variant.parameters).back();
    ASSERT_CUDA(cudaStreamCreate(&stream));
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (const CudaStage& stage : variant.stages) {
      ASSERT_CUDA(stage.launch(call_of(captured, &device, parameters), stream));
    }
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    device.poison();
    ASSERT_CUDA(cudaMemcpy(device.pointers()[kSteps],
                           replayed.at<std::byte>(kSteps),
                           replayed.num_bytes(kSteps),
                           cudaMemcpyHostToDevice));
    ASSERT_CUDA(cudaGraphLaunch(executable, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(0, num_differing(device, model_of(replayed))) << variant.name;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
}

TEST_F(QsaDecodeGpu, AStageDescribesItsKernel) {
  const ModelProblem problem({.cap = 512, .widths = {1, 2, 3}});
  for (const CudaVariant& variant : kCudaTables.variants) {
    CudaKernelInfo info;
    ASSERT_CUDA(variant.stages.front().launch.describe(call_of(problem), &info));
    EXPECT_EQ(std::string(variant.name) + "_chunk", info.name.substr(0, info.name.find('<')));
    EXPECT_EQ(8U, info.grid.x);
    EXPECT_EQ(2U, info.grid.y);
    EXPECT_EQ(3U, info.grid.z);
    EXPECT_EQ(256U, info.block.x);
    EXPECT_GT(info.attributes.numRegs, 0);
    EXPECT_EQ(0U, info.attributes.localSizeBytes) << "registers spill";
    EXPECT_GE(info.attributes.sharedSizeBytes, 15'872U);
  }
}

// A sum over arguments that does not depend on their order.
__host__ __device__ std::uint64_t digest_of(std::uint32_t argument) {
  const std::uint32_t value = bits_of(exp_bits(float_of(argument)));
  const std::uint64_t pair = (static_cast<std::uint64_t>(argument) << 32) | value;
  const std::uint64_t mixed = (pair ^ (pair >> 31)) * 0x9E3779B97F4A7C15ULL;
  return mixed ^ (mixed >> 29);
}

__global__ void exp_digest_kernel(std::uint32_t first,
                                  std::uint32_t end,
                                  unsigned long long* digest) {
  std::uint64_t sum = 0;
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint64_t i = first + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) {
    sum += digest_of(static_cast<std::uint32_t>(i));
  }
  atomicAdd(digest, sum);
}

TEST_F(QsaDecodeGpu, TheExponentialHasTheBitsOfTheHostForAllArguments) {
  constexpr std::uint32_t kFirst = 0x80000000U;  // -0
  constexpr std::uint32_t kEnd = 0xC2D00001U;    // past -104
  unsigned long long* device_digest = nullptr;
  ASSERT_CUDA(cudaMalloc(reinterpret_cast<void**>(&device_digest), sizeof(*device_digest)));
  ASSERT_CUDA(cudaMemset(device_digest, 0, sizeof(*device_digest)));
  exp_digest_kernel<<<1024, 256>>>(kFirst, kEnd, device_digest);
  unsigned long long on_device = 0;
  ASSERT_CUDA(cudaMemcpy(&on_device, device_digest, sizeof(on_device), cudaMemcpyDeviceToHost));
  cudaFree(device_digest);

  std::atomic<std::uint64_t> on_host = 0;
  const unsigned num_threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < num_threads; ++thread) {
    threads.emplace_back([&, thread] {
      std::uint64_t sum = 0;
      for (std::uint64_t i = std::uint64_t{kFirst} + thread; i < kEnd; i += num_threads) {
        sum += digest_of(static_cast<std::uint32_t>(i));
      }
      on_host += sum;
    });
  }
  threads.clear();
  EXPECT_EQ(on_host.load(), on_device);
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
