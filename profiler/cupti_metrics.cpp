#include "profiler/cupti_metrics.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cupti_profiler_host.h>

#include <array>
#include <cmath>
#include <utility>

namespace assay::profiler {
namespace {

constexpr std::size_t kMostNear = 5;
constexpr std::array<CUpti_MetricType, 3> kTypes = {
    CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT};

struct Functions {
  decltype(&cuptiProfilerHostInitialize) initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetBaseMetrics) base_metrics = nullptr;
  decltype(&cuptiProfilerHostGetSubMetrics) sub_metrics = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
};

// CUPTI's object for one set of metrics. One that refused a name is of no more use.
class HostObject {
 public:
  HostObject(const CuptiLibrary& library, const Functions& functions)
      : library_(library), functions_(functions) {}

  HostObject(const HostObject&) = delete;
  HostObject& operator=(const HostObject&) = delete;

  ~HostObject() {
    if (object_ != nullptr) {
      CUpti_Profiler_Host_Deinitialize_Params parameters = {};
      parameters.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
      parameters.pHostObject = object_;
      functions_.deinitialize(&parameters);
    }
  }

  absl::Status open(const std::string& chip) {
    CUpti_Profiler_Host_Initialize_Params parameters = {};
    parameters.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    parameters.pChipName = chip.c_str();
    ASSAY_RETURN_IF_ERROR(
        library_.status_of(functions_.initialize(&parameters), "cuptiProfilerHostInitialize"));
    object_ = parameters.pHostObject;
    return absl::OkStatus();
  }

  absl::Status add(std::span<const std::string> names) {
    std::vector<const char*> texts = c_strings(names);
    CUpti_Profiler_Host_ConfigAddMetrics_Params parameters = {};
    parameters.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
    parameters.pHostObject = object_;
    parameters.ppMetricNames = texts.data();
    parameters.numMetrics = texts.size();
    return library_.status_of(functions_.add_metrics(&parameters),
                              "cuptiProfilerHostConfigAddMetrics");
  }

  CUpti_Profiler_Host_Object* get() const { return object_; }

  static std::vector<const char*> c_strings(std::span<const std::string> names) {
    std::vector<const char*> texts;
    for (const std::string& name : names) {
      texts.push_back(name.c_str());
    }
    return texts;
  }

 private:
  const CuptiLibrary& library_;
  const Functions& functions_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

class LoadedMetrics : public CuptiMetrics {
 public:
  LoadedMetrics(const CuptiLibrary& library, const Functions& functions, std::string chip)
      : library_(library),
        functions_(functions),
        chip_(std::move(chip)),
        names_only_(library_, functions_) {}

  absl::Status start() { return names_only_.open(chip_); }

  absl::StatusOr<std::vector<std::string>> select(
      std::span<const WantedMetric> wanted) const override;
  absl::StatusOr<std::vector<std::uint8_t>> config_image(
      std::span<const std::string> names) const override;
  absl::StatusOr<std::vector<v1::Metric>> evaluate(
      std::span<const std::uint8_t> counter_data,
      std::size_t range,
      std::span<const std::string> names) const override;

 private:
  absl::Status can_collect(std::span<const std::string> names) const;
  std::string explain(const std::string& name) const;
  std::vector<std::string> base_names() const;
  std::vector<std::string> full_names(const std::string& base) const;

  CuptiLibrary library_;
  Functions functions_;
  std::string chip_;
  HostObject names_only_;  // no metric is ever added
};

absl::Status LoadedMetrics::can_collect(std::span<const std::string> names) const {
  HostObject host(library_, functions_);
  ASSAY_RETURN_IF_ERROR(host.open(chip_));
  return host.add(names);
}

absl::StatusOr<std::vector<std::string>> LoadedMetrics::select(
    std::span<const WantedMetric> wanted) const {
  std::vector<std::string> names;
  for (const WantedMetric& metric : wanted) {
    names.push_back(metric.name);
  }
  if (can_collect(names).ok()) {
    return names;
  }
  // Every chip has the duration: without it names are not what is wrong.
  ASSAY_RETURN_IF_ERROR(can_collect(std::array{std::string(kDurationMetric)}));
  return keep_available(wanted, [this](const std::string& name) { return explain(name); });
}

std::string LoadedMetrics::explain(const std::string& name) const {
  if (can_collect({&name, 1}).ok()) {
    return "";
  }
  // The base ends at the first point behind the unit; a few units have points themselves.
  const std::size_t unit = name.find("__");
  const std::string base = name.substr(0, name.find('.', unit == std::string::npos ? 0 : unit));
  std::vector<std::string> valid = full_names(base);
  if (valid.empty()) {
    valid = base_names();
  }
  return absl::StrCat("is no metric of ",
                      chip_,
                      "; near it are ",
                      absl::StrJoin(nearest_names(name, valid, kMostNear), ", "));
}

std::vector<std::string> LoadedMetrics::base_names() const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type : kTypes) {
    CUpti_Profiler_Host_GetBaseMetrics_Params parameters = {};
    parameters.structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE;
    parameters.pHostObject = names_only_.get();
    parameters.metricType = type;
    if (functions_.base_metrics(&parameters) == CUPTI_SUCCESS) {
      names.insert(
          names.end(), parameters.ppMetricNames, parameters.ppMetricNames + parameters.numMetrics);
    }
  }
  return names;
}

std::vector<std::string> LoadedMetrics::full_names(const std::string& base) const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type : kTypes) {
    CUpti_Profiler_Host_GetSubMetrics_Params parameters = {};
    parameters.structSize = CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE;
    parameters.pHostObject = names_only_.get();
    parameters.metricType = type;
    parameters.pMetricName = base.c_str();
    if (functions_.sub_metrics(&parameters) == CUPTI_SUCCESS) {
      for (std::size_t i = 0; i < parameters.numOfSubmetrics; ++i) {
        names.push_back(absl::StrCat(base, parameters.ppSubMetrics[i]));
      }
    }
  }
  return names;
}

absl::StatusOr<std::vector<std::uint8_t>> LoadedMetrics::config_image(
    std::span<const std::string> names) const {
  HostObject host(library_, functions_);
  ASSAY_RETURN_IF_ERROR(host.open(chip_));
  ASSAY_RETURN_IF_ERROR(host.add(names));
  CUpti_Profiler_Host_GetConfigImageSize_Params size = {};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = host.get();
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.config_size(&size), "cuptiProfilerHostGetConfigImageSize"));
  std::vector<std::uint8_t> image(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params parameters = {};
  parameters.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  parameters.pHostObject = host.get();
  parameters.configImageSize = image.size();
  parameters.pConfigImage = image.data();
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.config_image(&parameters), "cuptiProfilerHostGetConfigImage"));
  return image;
}

absl::StatusOr<std::vector<v1::Metric>> LoadedMetrics::evaluate(
    std::span<const std::uint8_t> counter_data,
    std::size_t range,
    std::span<const std::string> names) const {
  std::vector<const char*> texts = HostObject::c_strings(names);
  std::vector<double> values(names.size());
  CUpti_Profiler_Host_EvaluateToGpuValues_Params parameters = {};
  parameters.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  parameters.pHostObject = names_only_.get();
  parameters.pCounterDataImage = counter_data.data();
  parameters.counterDataImageSize = counter_data.size();
  parameters.rangeIndex = range;
  parameters.ppMetricNames = texts.data();
  parameters.numMetrics = texts.size();
  parameters.pMetricValues = values.data();
  ASSAY_RETURN_IF_ERROR(
      library_.status_of(functions_.evaluate(&parameters), "cuptiProfilerHostEvaluateToGpuValues"));
  std::vector<v1::Metric> metrics;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::isfinite(values[i])) {
      v1::Metric& metric = metrics.emplace_back();
      metric.set_name(names[i]);
      metric.set_value(values[i]);
    }
  }
  return metrics;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CuptiMetrics>> CuptiMetrics::open(const CuptiLibrary& library,
                                                                 const std::string& chip) {
  Functions functions;
  void* const handle = library.handle;
  if (!find(handle, "cuptiProfilerHostInitialize", functions.initialize) ||
      !find(handle, "cuptiProfilerHostDeinitialize", functions.deinitialize) ||
      !find(handle, "cuptiProfilerHostGetBaseMetrics", functions.base_metrics) ||
      !find(handle, "cuptiProfilerHostGetSubMetrics", functions.sub_metrics) ||
      !find(handle, "cuptiProfilerHostConfigAddMetrics", functions.add_metrics) ||
      !find(handle, "cuptiProfilerHostGetConfigImageSize", functions.config_size) ||
      !find(handle, "cuptiProfilerHostGetConfigImage", functions.config_image) ||
      !find(handle, "cuptiProfilerHostEvaluateToGpuValues", functions.evaluate)) {
    return absl::UnavailableError("libcupti.so lacks a function that counters need");
  }
  auto metrics = std::make_unique<LoadedMetrics>(library, functions, chip);
  ASSAY_RETURN_IF_ERROR(metrics->start());
  return metrics;
}

}  // namespace assay::profiler
