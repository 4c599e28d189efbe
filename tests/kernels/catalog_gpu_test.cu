// Every operator's CUDA variants against its cpu baseline on the cases of its "subset" suite: all
// that must be written, by bytes.
#include "kernels/cuda_operator.h"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

namespace assay::kernels {
namespace {

constexpr int kPoison = 0xFF;

struct CudaFree {
  void operator()(void* memory) const noexcept { cudaFree(memory); }
};

struct HostFree {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// Tensors on the host, 256-byte aligned and poisoned, with the inputs filled in.
class HostTensors {
 public:
  explicit HostTensors(const Problem& problem) {
    for (std::size_t i = 0; i < problem.tensors().size(); ++i) {
      const TensorSpec& tensor = problem.tensors()[i];
      const auto bytes = static_cast<std::size_t>(num_bytes(tensor));
      memory_.emplace_back(std::aligned_alloc(256, (bytes / 256 + 1) * 256));
      pointers_.push_back(memory_.back().get());
      std::memset(pointers_.back(), kPoison, bytes);
      if (tensor.role == Role::kInput) {
        problem.fill_input(i, static_cast<std::byte*>(pointers_.back()));
      }
    }
  }

  void* const* pointers() const { return pointers_.data(); }

 private:
  std::vector<std::unique_ptr<void, HostFree>> memory_;
  std::vector<void*> pointers_;
};

// The same tensors on the device.
class DeviceTensors {
 public:
  DeviceTensors(const Problem& problem, const HostTensors& host) : problem_(problem) {
    for (std::size_t i = 0; i < problem.tensors().size(); ++i) {
      const auto bytes = static_cast<std::size_t>(num_bytes(problem.tensors()[i]));
      void* memory = nullptr;
      EXPECT_EQ(cudaSuccess, cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)));
      memory_.emplace_back(memory);
      pointers_.push_back(memory);
      EXPECT_EQ(cudaSuccess, cudaMemcpy(memory, host.pointers()[i], bytes, cudaMemcpyHostToDevice));
    }
  }

  void poison() {
    for (std::size_t i = 0; i < pointers_.size(); ++i) {
      if (problem_.tensors()[i].role != Role::kInput) {
        const auto bytes = static_cast<std::size_t>(num_bytes(problem_.tensors()[i]));
        EXPECT_EQ(cudaSuccess, cudaMemset(pointers_[i], kPoison, bytes));
      }
    }
  }

  std::vector<std::byte> read(std::size_t tensor) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(num_bytes(problem_.tensors()[tensor])));
    EXPECT_EQ(cudaSuccess,
              cudaMemcpy(bytes.data(), pointers_[tensor], bytes.size(), cudaMemcpyDeviceToHost));
    return bytes;
  }

  void* const* pointers() const { return pointers_.data(); }

 private:
  const Problem& problem_;
  std::vector<std::unique_ptr<void, CudaFree>> memory_;
  std::vector<void*> pointers_;
};

LaunchParameters defaults_of(std::span<const AxisInfo> parameters) {
  LaunchParameters defaults;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const AxisInfo& axis = parameters[i];
    if (axis.choices.empty()) {
      const std::string_view text = axis.default_value;
      std::from_chars(text.data(), text.data() + text.size(), defaults.values[i]);
    } else {
      defaults.values[i] = static_cast<std::int32_t>(
          std::ranges::find(axis.choices, axis.default_value) - axis.choices.begin());
    }
  }
  return defaults;
}

// Bytes that differ where an output or intermediate must be written.
std::int64_t num_differing(const Problem& problem,
                           const HostTensors& host,
                           const DeviceTensors& device) {
  std::int64_t differing = 0;
  for (std::size_t i = 0; i < problem.tensors().size(); ++i) {
    const TensorSpec& tensor = problem.tensors()[i];
    if (tensor.role != Role::kOutput && tensor.role != Role::kIntermediate) {
      continue;
    }
    const std::vector<std::byte> found = device.read(i);
    const auto* wanted = static_cast<const std::byte*>(host.pointers()[i]);
    for (const ElementRange& range : problem.live(i)) {
      for (std::int64_t byte = range.begin * size_bytes(tensor.dtype);
           byte < range.end * size_bytes(tensor.dtype);
           ++byte) {
        differing += found[static_cast<std::size_t>(byte)] != wanted[byte] ? 1 : 0;
      }
    }
  }
  return differing;
}

void expect_cpu_bits(const Operator& op, const Workload& workload) {
  const absl::StatusOr<std::vector<Setting>> settings = complete_settings(op.axes, workload.axes);
  ASSERT_TRUE(settings.ok()) << settings.status();
  const std::unique_ptr<Problem> problem =
      op.make_problem({.axes = *settings, .seed = workload.seed});
  HostTensors host(*problem);
  DeviceTensors device(*problem, host);

  const CpuVariant& baseline = op.cpu_variants.front();
  Call call = {.problem = problem.get(),
               .tensors = host.pointers(),
               .parameters = defaults_of(baseline.parameters),
               .trace = nullptr};
  for (const Stage<CpuLaunch>& stage : baseline.stages) {
    ASSERT_TRUE(stage.launch(call).ok());
  }
  call.tensors = device.pointers();
  for (const CudaVariant& variant : op.cuda->variants) {
    if (variant.family != kBaselineFamily) {
      continue;
    }
    device.poison();
    call.parameters = defaults_of(variant.parameters);
    for (const CudaStage& stage : variant.stages) {
      ASSERT_EQ(cudaSuccess, stage.launch(call, nullptr));
    }
    ASSERT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(0, num_differing(*problem, host, device)) << op.name << " " << variant.name;
  }
}

TEST(CatalogGpu, EveryCudaVariantHasTheBitsOfTheCpuBaseline) {
  int num_devices = 0;
  if (cudaGetDeviceCount(&num_devices) != cudaSuccess || num_devices == 0) {
    GTEST_SKIP() << "no CUDA device";
  }
  std::int64_t num_cases = 0;
  for (const Operator* op : catalogue()) {
    if (op->cuda == nullptr) {
      continue;
    }
    for (const CaseSuite& suite : op->suites) {
      if (suite.suite != "subset") {
        continue;
      }
      for (std::int64_t i = 0; i < suite.num_cases; ++i) {
        expect_cpu_bits(*op, suite.workload(i));
        ++num_cases;
      }
    }
  }
  EXPECT_GT(num_cases, 0);
}

}  // namespace
}  // namespace assay::kernels
