#include "profiler/cuda_device.h"

#include "profiler/build_id.h"
#include "profiler/code_digest.h"
#include "profiler/cuda_kernels.h"
#include "profiler/cuda_probe.h"
#include "profiler/cuda_status.h"
#include "proto/status.h"

#include <algorithm>
#include <utility>

namespace assay::profiler {
namespace {

constexpr std::int64_t kMillisecond_ns = 1'000'000;
constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
constexpr std::int64_t kSpin_ns = 30'000 * kMillisecond_ns;

// Nothing where the runtime does not tell: a kernel whose shared memory was never asked for has no
// occupancy.
void set_occupancy(const kernels::CudaKernelInfo& info,
                   int most_warps,
                   v1::KernelResources& resources) {
  const auto num_threads = static_cast<int>(resources.num_threads());
  int num_blocks = 0;
  if (info.function == nullptr || most_warps <= 0 || num_threads <= 0 ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &num_blocks,
          info.function,
          num_threads,
          static_cast<std::size_t>(info.dynamic_shared_bytes)) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  constexpr int kWarp = 32;
  const int num_warps = num_blocks * ((num_threads + kWarp - 1) / kWarp);
  resources.set_num_resident_blocks(static_cast<std::uint32_t>(num_blocks));
  resources.set_occupancy(static_cast<double>(num_warps) / most_warps);
}

// Nothing where the driver did not show the module.
void set_machine_code(const kernels::CudaKernelInfo& info,
                      const CuptiActivity* cupti,
                      v1::KernelResources& resources) {
  const char* symbol = nullptr;
  if (cupti == nullptr || info.function == nullptr ||
      cudaFuncGetName(&symbol, info.function) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  resources.set_machine_code(cupti->modules().machine_code(symbol).value_or(""));
}

}  // namespace

v1::KernelResources resources_of(const kernels::CudaKernelInfo& info,
                                 const std::string& stage,
                                 int most_warps) {
  v1::KernelResources resources;
  resources.set_stage(stage);
  resources.set_kernel(info.name);
  resources.set_num_registers(static_cast<std::uint32_t>(info.attributes.numRegs));
  resources.set_static_shared_bytes(static_cast<std::int64_t>(info.attributes.sharedSizeBytes));
  resources.set_dynamic_shared_bytes(info.dynamic_shared_bytes);
  resources.set_local_bytes(static_cast<std::int64_t>(info.attributes.localSizeBytes));
  resources.set_num_blocks(info.grid.x * info.grid.y * info.grid.z);
  resources.set_num_threads(info.block.x * info.block.y * info.block.z);
  for (const unsigned extent : {info.grid.x, info.grid.y, info.grid.z}) {
    resources.add_grid(extent);
  }
  for (const unsigned extent : {info.block.x, info.block.y, info.block.z}) {
    resources.add_block(extent);
  }
  set_occupancy(info, most_warps, resources);
  return resources;
}

void free_cuda_memory(std::byte* memory) {
  cudaFree(memory);
}

absl::Status CudaDevice::start() {
  int num_devices = 0;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGetDeviceCount(&num_devices));
  if (ordinal_ >= num_devices) {
    return absl::UnavailableError(
        absl::StrCat("no CUDA device ", ordinal_, "; there are ", num_devices));
  }
  auto cupti = CuptiActivity::open();
  const absl::Status activity = cupti.status();
  ASSAY_RETURN_IF_CUDA_ERROR(cudaSetDevice(ordinal_));
  ASSAY_RETURN_IF_CUDA_ERROR(cudaFree(nullptr));
  cudaStream_t stream = nullptr;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  stream_.reset(stream);

  ASSAY_ASSIGN_OR_RETURN(description_, describe_cuda_device(ordinal_));
  int major = 0;
  int minor = 0;
  ASSAY_RETURN_IF_CUDA_ERROR(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal_));
  ASSAY_RETURN_IF_CUDA_ERROR(
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal_));
  compute_capability_ = 10 * major + minor;
  int most_threads = 0;
  ASSAY_RETURN_IF_CUDA_ERROR(
      cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, ordinal_));
  most_warps_ = most_threads / 32;
  auto nvml = Nvml::open(description_.uuid());
  add_capability(description_, "clocks (NVML)", nvml.status());
  if (nvml.ok()) {
    nvml_ = *std::move(nvml);
    description_.set_driver_version(nvml_->driver_version());
  }
  add_capability(description_, "kernel times (CUPTI)", activity);
  add_capability(description_, "counters (driver's permission)", counters_permitted());
  if (activity.ok()) {
    cupti_ = *std::move(cupti);
    ASSAY_RETURN_IF_ERROR(cupti_->expect_stream(stream_.get()));
  }

  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaMemGetInfo(&free_bytes, &total_bytes));
  const auto memory_bytes = static_cast<std::int64_t>(free_bytes);
  limits_ = {.timing_source = v1::CUPTI_ACTIVITY,
             .default_cache_mode = v1::COLD,
             .cache_bytes = description_.l2_bytes(),
             .input_cache_bytes = std::min(memory_bytes / 8, 4 * kGibibyte),
             .rotation_bytes = memory_bytes / 4,
             .least_warm_up_ns = 50 * kMillisecond_ns,
             .most_warm_up_ns = 1000 * kMillisecond_ns,
             .memory_bytes = memory_bytes / 2,
             .has_graphs = true,
             .activity = activity};
  return absl::OkStatus();
}

StagePlan CudaDevice::bind_stage(const kernels::CudaStage& stage) const {
  StagePlan plan;
  const kernels::CudaLaunch launch = stage.launch;
  plan.launch = [launch, stream = stream_.get()](const kernels::Call& call) {
    return cuda_status(launch(call, stream), "launch");
  };
  if (launch.describe != nullptr) {
    plan.describe =
        [launch, name = std::string(stage.name), most_warps = most_warps_, cupti = cupti_.get()](
            const kernels::Call& call) -> absl::StatusOr<v1::KernelResources> {
      kernels::CudaKernelInfo info;
      ASSAY_RETURN_IF_CUDA_ERROR(launch.describe(call, &info));
      v1::KernelResources resources = resources_of(info, name, most_warps);
      set_machine_code(info, cupti, resources);
      return resources;
    };
  }
  plan.code = {relative_address(reinterpret_cast<const void*>(launch.run)),
               relative_address(reinterpret_cast<const void*>(launch.describe))};
  return plan;
}

v1::OperatorInfo CudaDevice::describe(const kernels::Operator& op) const {
  v1::OperatorInfo info = operator_message(op);
  if (op.cuda != nullptr) {
    std::string architecture = absl::StrCat("sm_", compute_capability_);
    std::string own_family = absl::StrCat(architecture, "+", description_.toolkit_version());
    describe_rows(op.cuda->variants,
                  op.cuda->mutants,
                  {.architecture = std::move(architecture), .own_family = std::move(own_family)},
                  info);
  }
  return info;
}

absl::StatusOr<ArmPlan> CudaDevice::plan(const kernels::Operator& op, const v1::Arm& arm) const {
  const auto rows =
      op.cuda == nullptr ? std::span<const kernels::CudaVariant>() : op.cuda->variants;
  return plan_variant(rows, arm, compute_capability_, [this](const kernels::CudaStage& stage) {
    return bind_stage(stage);
  });
}

absl::StatusOr<ArmPlan> CudaDevice::plan_mutant(const kernels::Operator& op,
                                                std::string_view name) const {
  const kernels::CudaTables tables = op.cuda == nullptr ? kernels::CudaTables() : *op.cuda;
  return plan_mutant_row(tables.mutants,
                         tables.variants,
                         name,
                         compute_capability_,
                         [this](const kernels::CudaStage& stage) { return bind_stage(stage); });
}

absl::StatusOr<v1::Workload> CudaDevice::mutant_workload(const kernels::Operator& op,
                                                         std::string_view name) const {
  const auto rows = op.cuda == nullptr ? std::span<const kernels::CudaMutant>() : op.cuda->mutants;
  const kernels::CudaMutant* row = find_row(rows, name);
  if (row == nullptr) {
    return no_such_row("mutant", rows, name);
  }
  return settings_workload(row->axes);
}

absl::StatusOr<DeviceMemory> CudaDevice::allocate(std::int64_t num_bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, static_cast<std::size_t>(num_bytes));
  if (error != cudaSuccess) {
    // Running out of memory is no lasting error.
    cudaGetLastError();
    return cuda_status(error, absl::StrCat("cudaMalloc of ", num_bytes, " bytes"));
  }
  return DeviceMemory(static_cast<std::byte*>(memory), free_cuda_memory);
}

absl::Status CudaDevice::run(const ArmPlan& arm,
                             const kernels::Call& call,
                             absl::Status& finished) {
  finished = absl::OkStatus();
  for (const StagePlan& stage : arm.stages) {
    const absl::Status status = stage.launch(call);
    if (!status.ok()) {
      finished = proto::annotate(status, absl::StrCat("stage ", stage.name));
      break;
    }
  }
  return wait();
}

absl::Status CudaDevice::write(std::byte* to, std::span<const std::byte> from) {
  ASSAY_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_.get()));
  return wait();
}

absl::Status CudaDevice::read(std::span<std::byte> to, const std::byte* from) {
  ASSAY_RETURN_IF_CUDA_ERROR(
      cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_.get()));
  return wait();
}

absl::Status CudaDevice::copy(std::byte* to, const std::byte* from, std::int64_t num_bytes) {
  ASSAY_RETURN_IF_CUDA_ERROR(cudaMemcpyAsync(
      to, from, static_cast<std::size_t>(num_bytes), cudaMemcpyDeviceToDevice, stream_.get()));
  return absl::OkStatus();
}

absl::Status CudaDevice::fill(std::byte* to, std::byte value, std::int64_t num_bytes) {
  ASSAY_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(
      to, std::to_integer<int>(value), static_cast<std::size_t>(num_bytes), stream_.get()));
  return absl::OkStatus();
}

absl::Status CudaDevice::wait() const {
  ASSAY_RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_.get()));
  return absl::OkStatus();
}

std::string CudaDevice::code_digest(const ArmPlan& arm,
                                    std::span<const v1::KernelResources> resources) const {
  return code_digest_of(arm, resources);
}

void CudaDevice::spin() {
  launch_spin(kSpin_ns, stream_.get());
  cudaStreamSynchronize(stream_.get());
}

absl::StatusOr<std::unique_ptr<Device>> make_cuda_device(int ordinal) {
  auto device = std::make_unique<CudaDevice>(ordinal);
  ASSAY_RETURN_IF_ERROR(device->start());
  return device;
}

}  // namespace assay::profiler
