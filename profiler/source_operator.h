// The operator of a v1::SourceSpec: compiled, loaded and bound arm by arm, and then checked and
// timed as any other.
#pragma once

#include "profiler/source_blobs.h"
#include "profiler/source_compiler.h"
#include "profiler/source_problem.h"
#include "profiler/subject.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay::profiler {

class SourceOperator : public Subject {
 public:
  using FindBlob = std::function<Blob(const std::string& digest)>;

  // Device and compiler outlive it. INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED: the
  // specification, with the field. FAILED_PRECONDITION: the device takes no source, or data was not
  // sent.
  static absl::StatusOr<std::unique_ptr<SourceOperator>> define(const v1::SourceSpec& spec,
                                                                const FindBlob& find_blob,
                                                                Device& device,
                                                                SourceCompiler& compiler);

  const v1::OperatorInfo& info() const { return info_; }

  // Null unless this specification names the data.
  Blob find_blob(const std::string& digest) const;

  std::string name() const override { return info_.name(); }

  double tolerance_alarm() const override { return 1.0; }

  std::string reference_key() const override { return reference_key_; }

  absl::StatusOr<kernels::Workload> complete(const v1::Workload& given) const override;
  absl::StatusOr<std::unique_ptr<kernels::Problem>> make_problem(
      const kernels::Workload& workload) const override;
  absl::Status validate(const kernels::Workload& workload, const v1::Arm& arm) override;
  absl::StatusOr<ArmPlan> plan(const kernels::Workload& workload, const v1::Arm& arm) override;
  absl::Status prepare_references(const kernels::Workload& workload,
                                  kernels::Problem& problem,
                                  const std::string& key,
                                  const ReferenceCache& references,
                                  Device& device,
                                  Workspace& workspace) override;
  absl::Status timed_by_kernels_only() const override;

  // What the compiler said of the arms that were planned since this was last asked; each text once.
  std::string take_log();

 private:
  SourceOperator(v1::SourceSpec spec, Device& device, SourceCompiler& compiler)
      : spec_(std::move(spec)), device_(device), compiler_(compiler) {}

  absl::Status keep_blobs(const FindBlob& find_blob);
  absl::StatusOr<std::unique_ptr<SourceProblem>> problem_of(
      const kernels::Workload& workload) const;
  // All parameters of the arm's variant. Checked: a value of the specification's, and what its
  // restrictions let through.
  absl::StatusOr<v1::Arm> complete_arm(const kernels::Workload& workload, const v1::Arm& arm) const;
  absl::StatusOr<CompileJob> job_of(const v1::SourceVariant& variant,
                                    const v1::Arm& arm,
                                    const std::string& file) const;
  absl::StatusOr<std::vector<StagePlan>> plan_stages(const v1::SourceVariant& variant,
                                                     const kernels::Workload& workload,
                                                     const v1::Arm& arm);

  v1::SourceSpec spec_;  // complete
  Device& device_;
  SourceCompiler& compiler_;
  v1::OperatorInfo info_;
  std::string architecture_;
  std::string reference_key_;
  std::map<std::string, Blob> blobs_;
  std::vector<std::string> log_;
};

}  // namespace assay::profiler
