// A workload of a module's operator as a problem: shapes, inputs, what is live and the reference
// come from the module's callbacks.
#pragma once

#include "kernels/operator.h"
#include "profiler/module_table.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

// Runs a callback that can fail. INVALID_ARGUMENT (or `code`) has the callback's text, which is
// made printable, and its code.
template <class Callback>
absl::Status call_module(std::string_view what, absl::StatusCode code, const Callback& callback) {
  char text[256] = {};
  assay_error error = {.size = sizeof error, .text = text, .num_bytes = sizeof text};
  const int returned = callback(&error);
  text[sizeof text - 1] = '\0';
  if (returned == 0) {
    return absl::OkStatus();
  }
  std::string message(what);
  message += ": code " + std::to_string(returned);
  message += text[0] == '\0' ? "" : ": ";
  for (const char* letter = text; *letter != '\0'; ++letter) {
    message += *letter >= ' ' && *letter <= '~' ? *letter : '?';
  }
  return {code, message};
}

class ModuleProblem : public kernels::Problem {
 public:
  // `op` outlives the problem. INVALID_ARGUMENT says what the module refuses, or which shape it
  // gives that cannot be.
  static absl::StatusOr<std::unique_ptr<ModuleProblem>> make(const ModuleOperator& op,
                                                             const std::string& name,
                                                             const kernels::Workload& workload);
  ModuleProblem(const ModuleProblem&) = delete;
  ModuleProblem& operator=(const ModuleProblem&) = delete;
  ~ModuleProblem() override = default;

  // As a call hands it to the module.
  const assay_workload& workload() const { return workload_; }

  std::span<const kernels::TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override;
  std::vector<kernels::ElementRange> live(std::size_t tensor) const override;
  kernels::Reference reference(std::size_t tensor) const override;
  std::int64_t min_bytes() const override;
  std::int64_t min_flops() const override;

 private:
  explicit ModuleProblem(const ModuleOperator& op) : op_(op) {}

  absl::Status add_tensors(const std::string& name, const kernels::Workload& workload);

  const ModuleOperator& op_;
  std::vector<std::int64_t> values_;
  assay_workload workload_ = {};  // points into values_
  std::vector<kernels::TensorSpec> tensors_;
};

}  // namespace assay::profiler
