#include "profiler/module_cuda.h"

#include "kernels/cuda_operator.h"
#include "profiler/module_operator.h"
#include "profiler/module_slots.h"
#include "proto/status.h"

#include <cuda.h>

#include <array>
#include <deque>
#include <utility>

namespace assay::profiler {
namespace {

template <class Function>
bool find_driver_function(const char* name, Function& function) {
  constexpr unsigned kVersion = 12'000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    return false;
  }
  function = reinterpret_cast<Function>(found);
  return true;
}

// A module has a CUDA runtime of its own, which alone knows its kernels' symbols; the driver's
// handle of a function is the same for all.
cudaError_t read_attributes(void* function, cudaFuncAttributes& attributes) {
  if (function == nullptr) {
    return cudaSuccess;
  }
  decltype(&cuFuncGetAttribute) get = nullptr;
  if (!find_driver_function("cuFuncGetAttribute", get)) {
    return cudaErrorSymbolNotFound;
  }
  const auto read = [&](CUfunction_attribute attribute, auto& value) {
    int number = 0;
    const bool is_known =
        get(&number, attribute, static_cast<CUfunction>(function)) == CUDA_SUCCESS;
    value = static_cast<std::remove_reference_t<decltype(value)>>(number);
    return is_known;
  };
  const bool is_known = read(CU_FUNC_ATTRIBUTE_NUM_REGS, attributes.numRegs) &&
                        read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, attributes.sharedSizeBytes) &&
                        read(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, attributes.localSizeBytes) &&
                        read(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, attributes.constSizeBytes);
  return is_known ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

struct NoText {
  char text[256] = {};
  assay_error error = {.size = sizeof(assay_error), .text = text, .num_bytes = sizeof text};
};

template <std::size_t kPlace>
cudaError_t launch_cuda(const kernels::Call& call, cudaStream_t stream) {
  const ModuleSlots::StageSlot& slot = module_slots()->stages[kPlace];
  if (call.trace != nullptr) {
    call.trace->kernels.emplace_back(slot.stage->name);
  }
  NoText ignored;
  const assay_call given = module_call(slot, call, &ignored.error);
  return static_cast<cudaError_t>(slot.stage->launch_cuda(&given, stream));
}

template <std::size_t kPlace>
cudaError_t describe_cuda(const kernels::Call& call, kernels::CudaKernelInfo* info) {
  const ModuleSlots::StageSlot& slot = module_slots()->stages[kPlace];
  NoText ignored;
  const assay_call given = module_call(slot, call, &ignored.error);
  assay_kernel kernel = {};
  kernel.size = sizeof kernel;
  const auto described = static_cast<cudaError_t>(slot.stage->describe(&given, &kernel));
  if (described != cudaSuccess) {
    return described;
  }
  info->name = kernel.name == nullptr ? slot.stage->name : kernel.name;
  info->grid = {kernel.grid[0], kernel.grid[1], kernel.grid[2]};
  info->block = {kernel.block[0], kernel.block[1], kernel.block[2]};
  info->dynamic_shared_bytes = static_cast<std::int64_t>(kernel.dynamic_shared_bytes);
  return read_attributes(kernel.function, info->attributes);
}

template <std::size_t... kPlaces>
constexpr std::array<kernels::CudaLaunch, sizeof...(kPlaces)> launches_of(
    std::index_sequence<kPlaces...> /*places*/) {
  return {kernels::CudaLaunch{launch_cuda<kPlaces>, describe_cuda<kPlaces>}...};
}

constexpr auto kLaunches = launches_of(std::make_index_sequence<kMostModuleStages>());

class Tables : public ModuleCudaTables {
 public:
  absl::Status build(const std::vector<ModuleVariant>& variants, ModuleSlots& slots) {
    for (const ModuleVariant& variant : variants) {
      kernels::CudaVariant& row = variants_.emplace_back(variant_row<kernels::CudaLaunch>(variant));
      row.parameters = parameters_.emplace_back(variant.parameters).infos();
      std::vector<kernels::CudaStage>& stages = stages_.emplace_back();
      for (const assay_stage& stage : variant.stages) {
        ASSAY_ASSIGN_OR_RETURN(const std::size_t slot, add_stage_slot(slots, variant, stage));
        kernels::CudaLaunch launch = kLaunches.at(slot);
        launch.describe = stage.describe == nullptr ? nullptr : launch.describe;
        stages.push_back({.name = stage.name, .launch = launch});
      }
      row.stages = stages;
    }
    tables_.variants = variants_;
    return absl::OkStatus();
  }

  const kernels::CudaTables* tables() const override { return &tables_; }

 private:
  std::deque<ModuleAxes> parameters_;
  std::deque<std::vector<kernels::CudaStage>> stages_;
  std::vector<kernels::CudaVariant> variants_;
  kernels::CudaTables tables_ = {};
};

}  // namespace

absl::StatusOr<std::unique_ptr<ModuleCudaTables>> ModuleCudaTables::make(
    const std::vector<ModuleVariant>& variants, ModuleSlots& slots) {
  if (variants.empty()) {
    return nullptr;
  }
  auto tables = std::make_unique<Tables>();
  ASSAY_RETURN_IF_ERROR(tables->build(variants, slots));
  return tables;
}

}  // namespace assay::profiler
