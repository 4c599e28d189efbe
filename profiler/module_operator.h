// One operator of a module as the structs of kernels/operator.h, which point into what is kept
// here and into the module.
#pragma once

#include "kernels/operator.h"
#include "profiler/module_table.h"

#include "absl/status/status.h"

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::profiler {

struct ModuleSlots;
class ModuleCudaTables;

// Axes that keep the text of their defaults.
class ModuleAxes {
 public:
  explicit ModuleAxes(const std::vector<assay_axis>& axes);

  std::span<const kernels::AxisInfo> infos() const { return infos_; }

  // The text of a value of one axis.
  std::string text_of(std::size_t axis, std::int64_t value) const;

 private:
  std::deque<std::string> defaults_;
  std::deque<std::vector<std::string_view>> choices_;
  std::vector<kernels::AxisInfo> infos_;
};

class ModuleOperatorTables {
 public:
  ModuleOperatorTables(ModuleOperator rows, const std::string& module);
  ModuleOperatorTables(const ModuleOperatorTables&) = delete;
  ModuleOperatorTables& operator=(const ModuleOperatorTables&) = delete;
  ~ModuleOperatorTables();

  // `place` is the operator's among the module's. RESOURCE_EXHAUSTED: more stages than slots.
  absl::Status build(std::size_t place, ModuleSlots& slots);

  const kernels::Operator& definition() const { return definition_; }

  // What the operator's trampolines stand for.
  absl::Status validate(const kernels::Workload& workload) const;
  std::unique_ptr<kernels::Problem> make_problem(const kernels::Workload& workload) const;
  kernels::Workload case_workload(std::int64_t index) const;

 private:
  absl::Status build_cpu(ModuleSlots& slots);
  void build_workloads();

  ModuleOperator rows_;
  std::string module_;
  std::string name_;
  ModuleAxes axes_;
  std::deque<ModuleAxes> parameters_;
  std::deque<std::vector<kernels::Stage<kernels::CpuLaunch>>> cpu_stages_;
  std::vector<kernels::CpuVariant> cpu_variants_;
  std::deque<std::string> values_;
  std::deque<std::vector<std::pair<std::string_view, std::string_view>>> settings_;
  std::vector<kernels::NamedWorkload> workloads_;
  std::vector<kernels::CaseSuite> suites_;
  std::unique_ptr<ModuleCudaTables> cuda_;
  kernels::Operator definition_;
};

}  // namespace assay::profiler
