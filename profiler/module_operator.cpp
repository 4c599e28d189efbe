#include "profiler/module_operator.h"

#include "profiler/module_cuda.h"
#include "profiler/module_slots.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>

namespace assay::profiler {
namespace {

template <std::size_t kPlace>
absl::Status launch_cpu(const kernels::Call& call) {
  const ModuleSlots::StageSlot& slot = module_slots()->stages[kPlace];
  if (call.trace != nullptr) {
    call.trace->kernels.emplace_back(slot.stage->name);
  }
  return call_module("launch_cpu", absl::StatusCode::kInternal, [&](assay_error* error) {
    const assay_call given = module_call(slot, call, error);
    return slot.stage->launch_cpu(&given);
  });
}

template <std::size_t kPlace>
absl::Status validate_workload(const kernels::Workload& workload) {
  return module_slots()->operators[kPlace]->validate(workload);
}

template <std::size_t kPlace>
std::unique_ptr<kernels::Problem> make_module_problem(const kernels::Workload& workload) {
  return module_slots()->operators[kPlace]->make_problem(workload);
}

template <std::size_t kPlace>
kernels::Workload make_case(std::int64_t index) {
  return module_slots()->operators[kPlace]->case_workload(index);
}

template <std::size_t... kPlaces>
constexpr std::array<kernels::CpuLaunch, sizeof...(kPlaces)> launches_of(
    std::index_sequence<kPlaces...> /*places*/) {
  return {launch_cpu<kPlaces>...};
}

// The functions of one operator by its place.
struct Rules {
  absl::Status (*validate)(const kernels::Workload& workload);
  std::unique_ptr<kernels::Problem> (*make_problem)(const kernels::Workload& workload);
  kernels::Workload (*make_case)(std::int64_t index);
};

template <std::size_t... kPlaces>
constexpr std::array<Rules, sizeof...(kPlaces)> rules_of(
    std::index_sequence<kPlaces...> /*places*/) {
  return {Rules{validate_workload<kPlaces>, make_module_problem<kPlaces>, make_case<kPlaces>}...};
}

constexpr auto kLaunches = launches_of(std::make_index_sequence<kMostModuleStages>());
constexpr auto kRules = rules_of(std::make_index_sequence<kMostModuleOperators>());

}  // namespace

ModuleSlots*& module_slots() {
  static ModuleSlots* slots = nullptr;
  return slots;
}

absl::StatusOr<std::size_t> add_stage_slot(ModuleSlots& slots,
                                           const ModuleVariant& variant,
                                           const assay_stage& stage) {
  if (slots.stages.size() == kMostModuleStages) {
    return absl::ResourceExhaustedError(
        absl::StrCat("its variants have more than ", kMostModuleStages, " stages"));
  }
  slots.stages.push_back({.variant = &variant, .stage = &stage});
  return slots.stages.size() - 1;
}

ModuleAxes::ModuleAxes(const std::vector<assay_axis>& axes) {
  for (const assay_axis& axis : axes) {
    kernels::AxisInfo& info = infos_.emplace_back();
    info.name = axis.name;
    info.help = text_or_empty(axis.help);
    info.min = axis.min;
    info.max = axis.max;
    if (axis.choices != nullptr) {
      info.choices = choices_.emplace_back(axis.choices, axis.choices + axis.num_choices);
    }
    info.default_value = defaults_.emplace_back(text_of(infos_.size() - 1, axis.default_value));
  }
}

std::string ModuleAxes::text_of(std::size_t axis, std::int64_t value) const {
  const kernels::AxisInfo& info = infos_[axis];
  return info.choices.empty() ? absl::StrCat(value)
                              : std::string(info.choices[static_cast<std::size_t>(value)]);
}

ModuleOperatorTables::ModuleOperatorTables(ModuleOperator rows, const std::string& module)
    : rows_(std::move(rows)),
      module_(module),
      name_(absl::StrCat(module, ".", rows_.row.name)),
      axes_(rows_.axes) {}

ModuleOperatorTables::~ModuleOperatorTables() = default;

absl::Status ModuleOperatorTables::build(std::size_t place, ModuleSlots& slots) {
  ASSAY_RETURN_IF_ERROR(build_cpu(slots));
  ASSAY_ASSIGN_OR_RETURN(cuda_, ModuleCudaTables::make(rows_.cuda_variants, slots));
  build_workloads();
  const bool has_reference = std::ranges::any_of(
      rows_.tensors, [](const assay_tensor& tensor) { return tensor.reference != nullptr; });
  suites_.push_back(
      {.suite = "parity",
       .name = "workloads",
       .help = "every variant of the baseline's family on every named workload",
       .count_by = "",
       .num_cases = std::max<std::int64_t>(static_cast<std::int64_t>(workloads_.size()), 1),
       .workload = kRules.at(place).make_case,
       .against_reference = has_reference});
  definition_.name = name_;
  definition_.summary = text_or_empty(rows_.row.summary);
  definition_.axes = axes_.infos();
  definition_.validate = kRules.at(place).validate;
  definition_.make_problem = kRules.at(place).make_problem;
  definition_.cpu_variants = cpu_variants_;
  definition_.cuda = cuda_ == nullptr ? nullptr : cuda_->tables();
  definition_.workloads = workloads_;
  definition_.suites = suites_;
  // Nobody promised that its bits are the same everywhere.
  definition_.bits_domain = kernels::kArchitecture;
  return absl::OkStatus();
}

absl::Status ModuleOperatorTables::build_cpu(ModuleSlots& slots) {
  for (const ModuleVariant& variant : rows_.cpu_variants) {
    kernels::CpuVariant& row = cpu_variants_.emplace_back(variant_row<kernels::CpuLaunch>(variant));
    row.parameters = parameters_.emplace_back(variant.parameters).infos();
    std::vector<kernels::Stage<kernels::CpuLaunch>>& stages = cpu_stages_.emplace_back();
    for (const assay_stage& stage : variant.stages) {
      ASSAY_ASSIGN_OR_RETURN(const std::size_t slot, add_stage_slot(slots, variant, stage));
      stages.push_back({.name = stage.name, .launch = kLaunches.at(slot)});
    }
    row.stages = stages;
  }
  return absl::OkStatus();
}

void ModuleOperatorTables::build_workloads() {
  for (const assay_named_workload& row : rows_.workloads) {
    auto& settings = settings_.emplace_back();
    for (std::size_t axis = 0; axis < rows_.axes.size(); ++axis) {
      settings.emplace_back(rows_.axes[axis].name,
                            values_.emplace_back(axes_.text_of(axis, row.values[axis])));
    }
    workloads_.push_back({.name = row.name, .help = text_or_empty(row.help), .axes = settings});
  }
}

absl::Status ModuleOperatorTables::validate(const kernels::Workload& workload) const {
  return ModuleProblem::make(rows_, name_, workload).status();
}

std::unique_ptr<kernels::Problem> ModuleOperatorTables::make_problem(
    const kernels::Workload& workload) const {
  // A module that now refuses what it took before ends the process.
  return *ModuleProblem::make(rows_, name_, workload);
}

// The default workload where none has a name.
kernels::Workload ModuleOperatorTables::case_workload(std::int64_t index) const {
  kernels::Workload workload;
  if (!workloads_.empty()) {
    for (const auto& [axis, value] : workloads_[static_cast<std::size_t>(index)].axes) {
      workload.axes.emplace_back(axis, value);
    }
  }
  return workload;
}

}  // namespace assay::profiler
