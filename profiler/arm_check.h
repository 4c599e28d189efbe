// The checks of one arm that come before time, in the order of v1::BitsCheck: it finishes, writes
// everything and nothing else, leaves its inputs alone, repeats its bits, has the baseline's, and
// is within tolerance. The first that fails is reported and ends them.
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
  // Why runs differ: they follow what lay in memory that nobody wrote, or nothing that is known.
  absl::Status explain_digests(const ArmPlan& arm,
                               std::size_t num_digests,
                               const CheckedOutputs& checked,
                               const HostOutputs& other,
                               v1::BitsReport& bits);
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
