#include "tests/kernels/cpu_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace assay::kernels {
namespace {

// Of a bf16 or an fp32 tensor.
double value_at(DType dtype, const std::vector<std::byte>& bytes, std::size_t index) {
  float value = 0;
  if (dtype == DType::kBF16) {
    std::memcpy(reinterpret_cast<std::byte*>(&value) + 2, bytes.data() + index * 2, 2);
  } else {
    std::memcpy(&value, bytes.data() + index * 4, 4);
  }
  return double{value};
}

}  // namespace

Workload make_workload(const Operator& op, const std::vector<Setting>& axes, std::uint64_t seed) {
  return {.axes = complete_settings(op.axes, axes).value(), .seed = seed};
}

LaunchParameters make_parameters(std::span<const AxisInfo> axes,
                                 const std::vector<Setting>& given) {
  LaunchParameters parameters;
  const std::vector<Setting> settings = complete_settings(axes, given).value();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string& value = settings[i].second;
    if (axes[i].choices.empty()) {
      std::from_chars(value.data(), value.data() + value.size(), parameters.values[i]);
    } else {
      parameters.values[i] = static_cast<std::int32_t>(std::ranges::find(axes[i].choices, value) -
                                                       axes[i].choices.begin());
    }
  }
  return parameters;
}

CpuTensors make_tensors(const Operator& op, const Workload& workload, std::byte poison) {
  CpuTensors tensors = {.problem = op.make_problem(workload), .bytes = {}};
  const std::span<const TensorSpec> specs = tensors.problem->tensors();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto& bytes = tensors.bytes.emplace_back(static_cast<std::size_t>(num_bytes(specs[i])), poison);
    if (specs[i].role == Role::kInput) {
      tensors.problem->fill_input(i, bytes.data());
    }
  }
  return tensors;
}

absl::Status run_stages(std::span<const Stage<CpuLaunch>> stages,
                        const LaunchParameters& parameters,
                        CpuTensors* tensors,
                        Trace* trace) {
  std::vector<void*> pointers;
  for (std::vector<std::byte>& bytes : tensors->bytes) {
    pointers.push_back(bytes.data());
  }
  const Call call = {.problem = tensors->problem.get(),
                     .tensors = pointers.data(),
                     .parameters = parameters,
                     .trace = trace};
  for (const Stage<CpuLaunch>& stage : stages) {
    if (absl::Status status = stage.launch(call); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

CpuTensors run_variant(const Operator& op,
                       const Workload& workload,
                       std::string_view variant,
                       const std::vector<Setting>& parameters,
                       std::byte poison) {
  const auto row = std::ranges::find(op.cpu_variants, variant, &CpuVariant::name);
  CpuTensors tensors = make_tensors(op, workload, poison);
  const absl::Status status =
      run_stages(row->stages, make_parameters(row->parameters, parameters), &tensors);
  if (!status.ok()) {
    tensors.bytes.clear();
  }
  return tensors;
}

CpuTensors run_variant_on(const Operator& op,
                          CpuTensors* tensors,
                          std::string_view variant,
                          const std::vector<Setting>& parameters) {
  CpuTensors results = {.problem = tensors->problem, .bytes = {}};
  const auto row = std::ranges::find(op.cpu_variants, variant, &CpuVariant::name);
  const std::span<const TensorSpec> specs = tensors->problem->tensors();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role != Role::kInput) {
      std::ranges::fill(tensors->bytes[i], kPoison);
    }
  }
  if (!run_stages(row->stages, make_parameters(row->parameters, parameters), tensors).ok()) {
    return results;
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool is_input = specs[i].role == Role::kInput;
    results.bytes.push_back(is_input ? std::vector<std::byte>() : tensors->bytes[i]);
  }
  return results;
}

std::string first_difference(const CpuTensors& a, const CpuTensors& b) {
  const std::span<const TensorSpec> specs = a.problem->tensors();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role != Role::kOutput && specs[i].role != Role::kIntermediate) {
      continue;
    }
    for (const ElementRange& range : a.problem->live(i)) {
      const auto size = static_cast<std::size_t>(size_bytes(specs[i].dtype));
      const std::size_t begin = static_cast<std::size_t>(range.begin) * size;
      const std::size_t end = static_cast<std::size_t>(range.end) * size;
      if (std::memcmp(a.bytes[i].data() + begin, b.bytes[i].data() + begin, end - begin) != 0) {
        return specs[i].name;
      }
    }
  }
  return "";
}

double tolerance_used(const CpuTensors& tensors) {
  double worst = 0;
  const std::span<const TensorSpec> specs = tensors.problem->tensors();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].role != Role::kOutput) {
      continue;
    }
    const Reference reference = tensors.problem->reference(i);
    for (std::size_t j = 0; j < reference.values.size(); ++j) {
      const double value = value_at(specs[i].dtype, tensors.bytes[i], j);
      const double share = std::fabs(value - reference.values[j]) / reference.tolerances[j];
      // A NaN stays.
      worst = share <= worst || std::isnan(worst) ? worst : share;
    }
  }
  return worst;
}

}  // namespace assay::kernels
