// Which elements of a pair's two calls must be the same bytes: checked once a pair, compared for
// each arm and repeat.
#pragma once

#include "kernels/operator.h"
#include "profiler/drift.h"
#include "profiler/workspace.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

class MatchedTensors {
 public:
  // INTERNAL when the invariance matches an element that is not live on both sides, or no element
  // at all: such a pair could not fail.
  static absl::StatusOr<MatchedTensors> make(const kernels::Invariance& invariance,
                                             const kernels::Problem& left,
                                             std::span<const ComparedTensor> left_tensors,
                                             const kernels::Problem& right,
                                             std::span<const ComparedTensor> right_tensors);

  // The first tensor that differs; what either arm leaves unwritten is not looked at.
  std::optional<v1::Drift> find_drift(const ArmPlan& left_arm,
                                      const HostOutputs& left,
                                      const ArmPlan& right_arm,
                                      const HostOutputs& right) const;

  // The drift, and where in the right call its first element is, unless at the same place.
  std::string describe(const v1::Drift& drift) const;

  // Matched elements of the left outputs that are neither zero nor poison.
  std::int64_t count_nontrivial(const HostOutputs& left) const;

 private:
  struct Match {
    ComparedTensor left;
    std::size_t left_place = 0;  // in HostOutputs
    TensorLayout right;
    std::size_t right_place = 0;
    std::vector<MatchedRange> ranges;
  };

  std::vector<Match> matches_;
};

}  // namespace assay::profiler
