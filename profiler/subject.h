// What a session works on, whoever brings it: an operator of the catalogue on a device, or the one
// of a source. Errors are harmless and are refusals, with their failure class where it is known.
#pragma once

#include "kernels/operator.h"
#include "profiler/arm_plan.h"
#include "profiler/device.h"
#include "profiler/tolerance.h"
#include "profiler/workspace.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>

namespace assay::profiler {

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  virtual std::string name() const = 0;
  virtual double tolerance_alarm() const = 0;

  // Stands, with a workload, for the reference values: equal keys mean equal values.
  virtual std::string reference_key() const { return name(); }

  // With all axes, checked by the operator's own rules.
  virtual absl::StatusOr<kernels::Workload> complete(const v1::Workload& given) const = 0;
  // Requires a complete workload.
  virtual absl::StatusOr<std::unique_ptr<kernels::Problem>> make_problem(
      const kernels::Workload& workload) const = 0;
  // Whether the arm is one for the workload, as far as can be told without building it.
  virtual absl::Status validate(const kernels::Workload& workload, const v1::Arm& arm) = 0;
  // The plan is for this workload only and must not outlive the subject.
  virtual absl::StatusOr<ArmPlan> plan(const kernels::Workload& workload, const v1::Arm& arm) = 0;

  // Once the problem of `make_problem` is in the workspace and before its references are asked for.
  // `key` stands for the problem in the cache of references. Refused or harmless, else the
  // device's.
  virtual absl::Status prepare_references(const kernels::Workload& /*workload*/,
                                          kernels::Problem& /*problem*/,
                                          const std::string& /*key*/,
                                          const ReferenceCache& /*references*/,
                                          Device& /*device*/,
                                          Workspace& /*workspace*/) {
    return absl::OkStatus();
  }

  // Why a call is more than its kernels, so that only times of single kernels are of them alone;
  // OK: it is not.
  virtual absl::Status timed_by_kernels_only() const { return absl::OkStatus(); }
};

class CatalogueSubject : public Subject {
 public:
  // Both outlive it.
  CatalogueSubject(const Device& device, const kernels::Operator& op) : device_(device), op_(op) {}

  std::string name() const override { return std::string(op_.name); }

  double tolerance_alarm() const override { return op_.tolerance_alarm; }

  absl::StatusOr<kernels::Workload> complete(const v1::Workload& given) const override;
  absl::StatusOr<std::unique_ptr<kernels::Problem>> make_problem(
      const kernels::Workload& workload) const override;
  absl::Status validate(const kernels::Workload& workload, const v1::Arm& arm) override;
  absl::StatusOr<ArmPlan> plan(const kernels::Workload& workload, const v1::Arm& arm) override;

 private:
  const Device& device_;
  const kernels::Operator& op_;
};

}  // namespace assay::profiler
