#include "profiler/cupti_counters.h"

#include "profiler/cuda_status.h"
#include "profiler/cupti_library.h"
#include "profiler/cupti_metrics.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace assay::profiler {
namespace {

struct Functions {
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerDeInitialize) deinitialize = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) initialize_data = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = nullptr;
  decltype(&cuptiRangeProfilerCounterDataGetRangeInfo) range_info = nullptr;
};

absl::StatusOr<CUcontext> current_context() {
  constexpr unsigned kVersion = 12'000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGetDriverEntryPointByVersion(
      "cuCtxGetCurrent", &function, kVersion, cudaEnableDefault, &found));
  CUcontext context = nullptr;
  if (found != cudaDriverEntryPointSuccess ||
      reinterpret_cast<decltype(&cuCtxGetCurrent)>(function)(&context) != CUDA_SUCCESS ||
      context == nullptr) {
    return absl::UnavailableError("counters: no CUDA context is current");
  }
  return context;
}

// The range profiler of one context, from enabling it to disabling it. CUPTI writes to the data
// while it is enabled.
class RangeProfiler {
 public:
  RangeProfiler(const CuptiLibrary& library, const Functions& functions)
      : library_(library), functions_(functions) {}

  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  ~RangeProfiler() {
    if (is_started_) {
      static_cast<void>(stop());
    }
    if (object_ != nullptr) {
      CUpti_RangeProfiler_Disable_Params parameters = {};
      parameters.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE;
      parameters.pRangeProfilerObject = object_;
      functions_.disable(&parameters);
    }
  }

  absl::Status enable(CUcontext context);
  absl::Status configure(std::vector<std::uint8_t> config, std::span<const std::string> metrics);
  absl::Status start();
  absl::Status stop();
  // Afterwards the data can be read. RESOURCE_EXHAUSTED when kernels are missing from them.
  absl::Status decode();

  std::span<const std::uint8_t> data() const { return data_; }

  // The ranges in the order in which their kernels were launched.
  absl::StatusOr<std::vector<std::size_t>> ranges() const;

 private:
  absl::Status make_data(std::span<const std::string> metrics);

  const CuptiLibrary& library_;
  const Functions& functions_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool is_started_ = false;
  std::vector<std::uint8_t> config_;
  std::vector<std::uint8_t> data_;
};

absl::Status RangeProfiler::enable(CUcontext context) {
  CUpti_RangeProfiler_Enable_Params parameters = {};
  parameters.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE;
  parameters.ctx = context;
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.enable(&parameters), "cuptiRangeProfilerEnable"));
  object_ = parameters.pRangeProfilerObject;
  return absl::OkStatus();
}

absl::Status RangeProfiler::make_data(std::span<const std::string> metrics) {
  std::vector<const char*> names;
  for (const std::string& metric : metrics) {
    names.push_back(metric.c_str());
  }
  CUpti_RangeProfiler_GetCounterDataSize_Params size = {};
  size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = kMostCountedKernels;
  size.maxNumRangeTreeNodes = kMostCountedKernels;
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.data_size(&size), "cuptiRangeProfilerGetCounterDataSize"));
  data_.assign(size.counterDataSize, 0);
  CUpti_RangeProfiler_CounterDataImage_Initialize_Params parameters = {};
  parameters.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  parameters.counterDataSize = data_.size();
  parameters.pCounterData = data_.data();
  return library_.status_of(functions_.initialize_data(&parameters),
                            "cuptiRangeProfilerCounterDataImageInitialize");
}

absl::Status RangeProfiler::configure(std::vector<std::uint8_t> config,
                                      std::span<const std::string> metrics) {
  config_ = std::move(config);
  ASSAY_RETURN_IF_ERROR(make_data(metrics));
  CUpti_RangeProfiler_SetConfig_Params parameters = {};
  parameters.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  parameters.configSize = config_.size();
  parameters.pConfig = config_.data();
  parameters.counterDataImageSize = data_.size();
  parameters.pCounterDataImage = data_.data();
  parameters.range = CUPTI_AutoRange;
  parameters.replayMode = CUPTI_KernelReplay;
  parameters.maxRangesPerPass = kMostCountedKernels;
  parameters.numNestingLevels = 1;
  parameters.minNestingLevel = 1;
  parameters.passIndex = 0;
  parameters.targetNestingLevel = 0;
  return library_.status_of(functions_.set_config(&parameters), "cuptiRangeProfilerSetConfig");
}

absl::Status RangeProfiler::start() {
  CUpti_RangeProfiler_Start_Params parameters = {};
  parameters.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.start(&parameters), "cuptiRangeProfilerStart"));
  is_started_ = true;
  return absl::OkStatus();
}

absl::Status RangeProfiler::stop() {
  is_started_ = false;
  CUpti_RangeProfiler_Stop_Params parameters = {};
  parameters.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  return library_.status_of(functions_.stop(&parameters), "cuptiRangeProfilerStop");
}

absl::Status RangeProfiler::decode() {
  CUpti_RangeProfiler_DecodeData_Params parameters = {};
  parameters.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE;
  parameters.pRangeProfilerObject = object_;
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.decode(&parameters), "cuptiRangeProfilerDecodeData"));
  if (parameters.numOfRangeDropped > 0) {
    return absl::ResourceExhaustedError(absl::StrCat("counters: ",
                                                     parameters.numOfRangeDropped,
                                                     " kernels are more than the limit of ",
                                                     kMostCountedKernels));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::size_t>> RangeProfiler::ranges() const {
  CUpti_RangeProfiler_GetCounterDataInfo_Params info = {};
  info.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE;
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.data_info(&info), "cuptiRangeProfilerGetCounterDataInfo"));
  // Ranges are named by the number of their kernel.
  std::vector<std::pair<std::uint64_t, std::size_t>> numbered;
  for (std::size_t range = 0; range < info.numTotalRanges; ++range) {
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params parameters = {};
    parameters.structSize = CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE;
    parameters.pCounterDataImage = data_.data();
    parameters.counterDataImageSize = data_.size();
    parameters.rangeIndex = range;
    parameters.rangeDelimiter = "/";
    ASSAY_RETURN_IF_ERROR(library_.status_of(functions_.range_info(&parameters),
                                             "cuptiRangeProfilerCounterDataGetRangeInfo"));
    std::uint64_t number = 0;
    if (parameters.rangeName == nullptr || !absl::SimpleAtoi(parameters.rangeName, &number)) {
      return absl::UnavailableError(
          absl::StrCat("counters: a kernel's range is named `",
                       parameters.rangeName == nullptr ? "" : parameters.rangeName,
                       "`, not by its number"));
    }
    numbered.emplace_back(number, range);
  }
  std::ranges::sort(numbered);
  std::vector<std::size_t> ordered;
  ordered.reserve(numbered.size());
  for (const auto& [number, range] : numbered) {
    ordered.push_back(range);
  }
  return ordered;
}

class LoadedCounters : public CuptiCounters {
 public:
  LoadedCounters(const CuptiLibrary& library, const Functions& functions)
      : library_(library), functions_(functions) {}

  LoadedCounters(const LoadedCounters&) = delete;
  LoadedCounters& operator=(const LoadedCounters&) = delete;

  ~LoadedCounters() override {
    if (is_initialized_) {
      CUpti_Profiler_DeInitialize_Params parameters = {};
      parameters.structSize = CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE;
      functions_.deinitialize(&parameters);
    }
  }

  absl::Status start(int ordinal) {
    CUpti_Profiler_Initialize_Params parameters = {};
    parameters.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE;
    ASSAY_RETURN_IF_ERROR(
        library_.status_of(functions_.initialize(&parameters), "cuptiProfilerInitialize"));
    is_initialized_ = true;
    CUpti_Device_GetChipName_Params chip = {};
    chip.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
    chip.deviceIndex = static_cast<std::size_t>(ordinal);
    ASSAY_RETURN_IF_ERROR(
        library_.status_of(functions_.chip_name(&chip), "cuptiDeviceGetChipName"));
    ASSAY_ASSIGN_OR_RETURN(metrics_, CuptiMetrics::open(library_, chip.pChipName));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> select(
      std::span<const std::string> counters) const override {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<WantedMetric> wanted, expand_counters(counters));
    return metrics_->select(wanted);
  }

  absl::StatusOr<std::vector<CountedKernel>> count(
      std::span<const std::string> metrics, const std::function<absl::Status()>& launch) override;

 private:
  CuptiLibrary library_;
  Functions functions_;
  bool is_initialized_ = false;
  std::unique_ptr<CuptiMetrics> metrics_;
};

absl::StatusOr<std::vector<CountedKernel>> LoadedCounters::count(
    std::span<const std::string> metrics, const std::function<absl::Status()>& launch) {
  ASSAY_ASSIGN_OR_RETURN(CUcontext context, current_context());
  ASSAY_ASSIGN_OR_RETURN(std::vector<std::uint8_t> config, metrics_->config_image(metrics));
  RangeProfiler profiler(library_, functions_);
  ASSAY_RETURN_IF_ERROR(profiler.enable(context));
  ASSAY_RETURN_IF_ERROR(profiler.configure(std::move(config), metrics));
  ASSAY_RETURN_IF_ERROR(profiler.start());
  ASSAY_RETURN_IF_ERROR(launch());
  ASSAY_RETURN_IF_ERROR(profiler.stop());
  ASSAY_RETURN_IF_ERROR(profiler.decode());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::size_t> ranges, profiler.ranges());
  std::vector<CountedKernel> kernels;
  for (const std::size_t range : ranges) {
    ASSAY_ASSIGN_OR_RETURN(kernels.emplace_back(),
                           metrics_->evaluate(profiler.data(), range, metrics));
  }
  return kernels;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CuptiCounters>> CuptiCounters::open(int ordinal) {
  ASSAY_ASSIGN_OR_RETURN(const CuptiLibrary library, load_cupti());
  Functions functions;
  void* const handle = library.handle;
  if (!find(handle, "cuptiProfilerInitialize", functions.initialize) ||
      !find(handle, "cuptiProfilerDeInitialize", functions.deinitialize) ||
      !find(handle, "cuptiDeviceGetChipName", functions.chip_name) ||
      !find(handle, "cuptiRangeProfilerEnable", functions.enable) ||
      !find(handle, "cuptiRangeProfilerDisable", functions.disable) ||
      !find(handle, "cuptiRangeProfilerGetCounterDataSize", functions.data_size) ||
      !find(handle, "cuptiRangeProfilerCounterDataImageInitialize", functions.initialize_data) ||
      !find(handle, "cuptiRangeProfilerSetConfig", functions.set_config) ||
      !find(handle, "cuptiRangeProfilerStart", functions.start) ||
      !find(handle, "cuptiRangeProfilerStop", functions.stop) ||
      !find(handle, "cuptiRangeProfilerDecodeData", functions.decode) ||
      !find(handle, "cuptiRangeProfilerGetCounterDataInfo", functions.data_info) ||
      !find(handle, "cuptiRangeProfilerCounterDataGetRangeInfo", functions.range_info)) {
    return absl::UnavailableError("libcupti.so lacks a function that counters need");
  }
  auto counters = std::make_unique<LoadedCounters>(library, functions);
  ASSAY_RETURN_IF_ERROR(counters->start(ordinal));
  return counters;
}

}  // namespace assay::profiler
