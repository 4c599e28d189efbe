#include "profiler/cuda_device.h"
#include "profiler/cuda_status.h"
#include "profiler/failure_class.h"
#include "profiler/loaded_modules.h"
#include "proto/status.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <utility>

namespace assay::profiler {
namespace {

constexpr std::int64_t kSharedWithoutAsking_bytes = std::int64_t{48} << 10;
constexpr std::size_t kMostArguments = 64;
static_assert(kMostArguments >= tuning::kMaxSourceArguments);

// Errors of these calls are no lasting ones.
absl::Status harmless(cudaError_t error, const char* call) {
  if (error != cudaSuccess) {
    cudaGetLastError();
  }
  return cuda_status(error, call);
}

class CudaSource : public LoadedSource {
 public:
  explicit CudaSource(cudaLibrary_t library) : library_(library) {}

  CudaSource(const CudaSource&) = delete;
  CudaSource& operator=(const CudaSource&) = delete;

  // An error here is reported again by what follows.
  ~CudaSource() override { cudaLibraryUnload(library_); }

  cudaLibrary_t get() const { return library_; }

 private:
  cudaLibrary_t library_;
};

// What the runtime takes for a kernel's function.
const void* function_of(cudaKernel_t kernel) {
  return reinterpret_cast<const void*>(kernel);
}

absl::Status check_resources(const SourceLaunch& launch,
                             const kernels::CudaKernelInfo& info,
                             std::int64_t most_shared_bytes) {
  const std::int64_t num_threads = std::int64_t{info.block.x} * info.block.y * info.block.z;
  if (num_threads > info.attributes.maxThreadsPerBlock) {
    return absl::ResourceExhaustedError(absl::StrCat("stage ",
                                                     launch.stage,
                                                     ": ",
                                                     num_threads,
                                                     " threads a block, kernel `",
                                                     launch.kernel,
                                                     "` with its ",
                                                     info.attributes.numRegs,
                                                     " registers can have ",
                                                     info.attributes.maxThreadsPerBlock));
  }
  const auto fixed = static_cast<std::int64_t>(info.attributes.sharedSizeBytes);
  if (fixed + info.dynamic_shared_bytes > most_shared_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("stage ",
                                                     launch.stage,
                                                     ": ",
                                                     fixed + info.dynamic_shared_bytes,
                                                     " bytes of shared memory a block (",
                                                     fixed,
                                                     " static, ",
                                                     info.dynamic_shared_bytes,
                                                     " dynamic), the device has ",
                                                     most_shared_bytes));
  }
  return absl::OkStatus();
}

v1::FailureClass class_of(cudaError_t error) {
  return error == cudaErrorLaunchOutOfResources || error == cudaErrorMemoryAllocation
             ? v1::RESOURCES
             : v1::LAUNCH;
}

// The copies and the launch of a stage on a stream.
class Launcher {
 public:
  Launcher(SourceLaunch launch, kernels::CudaKernelInfo info, cudaStream_t stream)
      : launch_(std::move(launch)), info_(std::move(info)), stream_(stream) {}

  absl::Status operator()(const kernels::Call& call) const {
    for (const TensorCopy& copy : launch_.copies) {
      ASSAY_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(call.tensors[copy.to],
                                                 call.tensors[copy.from],
                                                 static_cast<std::size_t>(copy.num_bytes),
                                                 cudaMemcpyDeviceToDevice,
                                                 stream_));
    }
    // The runtime reads arguments where they are pointed to, and copies them.
    std::array<void*, kMostArguments> arguments = {};
    for (std::size_t index = 0; index < launch_.tensors.size(); ++index) {
      const int tensor = launch_.tensors[index];
      const void* const value = tensor < 0
                                    ? static_cast<const void*>(launch_.sizes.scalars[index].data())
                                    : static_cast<const void*>(&call.tensors[tensor]);
      arguments[index] = const_cast<void*>(value);
    }
    cudaLaunchConfig_t config = {};
    config.gridDim = info_.grid;
    config.blockDim = info_.block;
    config.dynamicSmemBytes = static_cast<std::size_t>(info_.dynamic_shared_bytes);
    config.stream = stream_;
    if (call.trace != nullptr) {
      call.trace->kernels.push_back(launch_.kernel);
    }
    const cudaError_t error = cudaLaunchKernelExC(&config, info_.function, arguments.data());
    return with_failure(harmless(error, "cudaLaunchKernelExC"), class_of(error));
  }

 private:
  SourceLaunch launch_;
  kernels::CudaKernelInfo info_;
  cudaStream_t stream_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<LoadedSource>> CudaDevice::load_source(
    std::span<const std::byte> cubin) const {
  const UnkeptModules unkept;
  cudaLibrary_t library = nullptr;
  ASSAY_RETURN_IF_ERROR(harmless(
      cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cudaLibraryLoadData"));
  return std::make_shared<CudaSource>(library);
}

absl::StatusOr<StagePlan> CudaDevice::bind_source(const SourceLaunch& launch) const {
  // Lazily loaded code is loaded by the first question about it.
  const UnkeptModules unkept;
  cudaKernel_t kernel = nullptr;
  ASSAY_RETURN_IF_ERROR(harmless(
      cudaLibraryGetKernel(
          &kernel, static_cast<const CudaSource&>(*launch.code).get(), launch.symbol.c_str()),
      "cudaLibraryGetKernel"));
  kernels::CudaKernelInfo info;
  info.name = launch.kernel;
  info.function = function_of(kernel);
  info.grid = {launch.sizes.grid[0], launch.sizes.grid[1], launch.sizes.grid[2]};
  info.block = {launch.sizes.block[0], launch.sizes.block[1], launch.sizes.block[2]};
  info.dynamic_shared_bytes = launch.sizes.shared_bytes;
  ASSAY_RETURN_IF_ERROR(
      harmless(cudaFuncGetAttributes(&info.attributes, info.function), "cudaFuncGetAttributes"));
  int most_shared_bytes = 0;
  ASSAY_RETURN_IF_ERROR(harmless(
      cudaDeviceGetAttribute(&most_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal_),
      "cudaDeviceGetAttribute"));
  ASSAY_RETURN_IF_ERROR(check_resources(launch, info, most_shared_bytes));
  const auto fixed = static_cast<std::int64_t>(info.attributes.sharedSizeBytes);
  if (fixed + info.dynamic_shared_bytes > kSharedWithoutAsking_bytes) {
    const cudaError_t error = cudaFuncSetAttribute(info.function,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(info.dynamic_shared_bytes));
    ASSAY_RETURN_IF_ERROR(with_failure(harmless(error, "cudaFuncSetAttribute"), v1::RESOURCES));
  }
  v1::KernelResources resources = resources_of(info, launch.stage, most_warps_);
  resources.set_machine_code(launch.machine_code);
  StagePlan plan;
  plan.name = launch.stage;
  plan.describe = [resources](const kernels::Call& /*call*/) { return resources; };
  plan.launch = Launcher(launch, info, stream_.get());
  return plan;
}

}  // namespace assay::profiler
