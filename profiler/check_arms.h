// What the items of suites and invariances share: the arms that a device has, and what was left
// out.
#pragma once

#include "kernels/operator.h"
#include "profiler/device.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::profiler {

// From 0 to 1, and the case at hand. Called often; an error ends the check.
using ProgressSink = std::function<absl::Status(double progress, const std::string& message)>;

// What could not be run here, by reason, in the order in which it was found.
class LeftOut {
 public:
  void add(const std::string& what, const absl::Status& why);

  bool empty() const { return by_reason_.empty(); }

  // "staged, wide (no variant ...); p=511 (workload of ...)"; long lists end with "and 7 more".
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason_;
};

// The names of all variants of the baseline family, the baseline first. FAILED_PRECONDITION when
// the device has none.
absl::StatusOr<std::vector<std::string>> family_arms(const Device& device,
                                                     const kernels::Operator& op);

// Arms by their text, each looked up once. The device and the operator must outlive it.
class ArmTable {
 public:
  ArmTable(const Device& device, const kernels::Operator& op) : device_(device), op_(op) {}

  // Null when this device does not have it or cannot run it, which is then added to what was left
  // out. Refused when a variant that is there does not take the parameters.
  absl::StatusOr<const ArmPlan*> find(const std::string& text, LeftOut& left_out);

 private:
  const Device& device_;
  const kernels::Operator& op_;
  std::map<std::string, absl::StatusOr<ArmPlan>> plans_;
};

// The workload with all its axes, checked by the operator; refused where it does not take it.
absl::StatusOr<kernels::Workload> checked_workload(const kernels::Operator& op,
                                                   const kernels::Workload& given,
                                                   const std::string& name);

}  // namespace assay::profiler
