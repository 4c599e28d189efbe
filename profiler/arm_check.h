// The checks of one arm that come before time, in the order of v1::BitsCheck: it finishes, writes
// everything and nothing else, reads nothing outside of its tensors, leaves its inputs alone,
// repeats its bits, has the baseline's, and is within tolerance. The first that fails is reported
// and ends them.
#pragma once

#include "kernels/operator.h"
#include "profiler/checked_call.h"
#include "profiler/device.h"
#include "profiler/digest.h"
#include "profiler/tolerance.h"
#include "profiler/workspace.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"

#include <string>
#include <vector>

namespace assay::profiler {

inline constexpr std::uint32_t kRepeatRuns = 3;

// What an arm wrote.
struct CheckedOutputs {
  HostOutputs outputs;
  std::vector<Digest> digests;  // in the order of Workspace::compared()
  std::string family;
  std::vector<bool> left;  // in that order: what its form leaves unwritten
};

class ArmChecker {
 public:
  // `key` stands for the problem in the cache of references, `tolerance_alarm` is the operator's.
  // All outlive the checker.
  ArmChecker(Device& device,
             Workspace& workspace,
             ReferenceCache& references,
             const kernels::Problem& problem,
             std::string key,
             double tolerance_alarm)
      : device_(device),
        workspace_(workspace),
        references_(references),
        problem_(problem),
        key_(std::move(key)),
        tolerance_alarm_(tolerance_alarm) {}

  // Fills the measurement's outputs, bits and traced kernels. `baseline` is null for the baseline
  // itself. The returned error is the device's.
  absl::Status check(const ArmPlan& arm,
                     const CheckedOutputs* baseline,
                     v1::Measurement& measurement,
                     CheckedOutputs& checked);

 private:
  absl::Status run(const ArmPlan& arm,
                   std::byte poison,
                   kernels::Trace* trace,
                   absl::Status& finished,
                   HostOutputs& outputs);
  bool was_all_written(const ArmPlan& arm,
                       const HostOutputs& first,
                       const HostOutputs& second,
                       v1::BitsReport& bits) const;
  // Why a run on `poison` left `other`: it followed what lay in memory that nobody wrote or around
  // the tensors, or nothing that is known.
  absl::Status explain_digests(const ArmPlan& arm,
                               std::byte poison,
                               const CheckedOutputs& checked,
                               const HostOutputs& other,
                               v1::BitsReport& bits);
  absl::Status name_outside_reads(const ArmPlan& arm,
                                  std::byte poison,
                                  const CheckedOutputs& checked,
                                  const HostOutputs& other,
                                  v1::BitsReport& bits);
  // The first difference from `checked`, where there is one.
  void set_drift(const CheckedOutputs& checked,
                 const HostOutputs& other,
                 v1::BitsReport& bits) const;
  // Adds to what failed before.
  absl::Status check_other_memory(v1::BitsReport& bits);
  void compare(const CheckedOutputs& baseline,
               const CheckedOutputs& checked,
               v1::BitsReport& bits) const;
  void judge_tolerance(const HostOutputs& outputs, v1::BitsReport& bits);

  Device& device_;
  Workspace& workspace_;
  ReferenceCache& references_;
  const kernels::Problem& problem_;
  std::string key_;
  double tolerance_alarm_;
};

}  // namespace assay::profiler
