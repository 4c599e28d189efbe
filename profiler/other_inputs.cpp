#include "profiler/other_inputs.h"

#include "profiler/checked_call.h"
#include "profiler/drift.h"
#include "profiler/poison.h"
#include "profiler/tolerance.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::profiler {
namespace {

bool is_alike(const Workspace& workspace, const kernels::Problem& other) {
  const std::span<const kernels::TensorSpec> specs = other.tensors();
  const auto same_live = [](const ElementRange& a, const kernels::ElementRange& b) {
    return a.begin == b.begin && a.end == b.end;
  };
  return workspace.has_tensors_of(other) &&
         std::ranges::all_of(workspace.compared(), [&](const ComparedTensor& tensor) {
           return std::ranges::equal(tensor.layout.live, other.live(tensor.tensor), same_live) &&
                  specs[tensor.tensor].name == tensor.layout.name;
         });
}

// Empty: within the tolerance, or nothing is known of it.
std::string tolerance_failure(const Workspace& workspace,
                              const kernels::Problem& other,
                              const HostOutputs& outputs) {
  for (std::size_t place = 0; place < workspace.compared().size(); ++place) {
    const ComparedTensor& tensor = workspace.compared()[place];
    const auto wanted = static_cast<std::size_t>(num_elements(tensor.layout));
    if (!tensor.is_output) {
      continue;
    }
    const kernels::Reference reference = other.reference(tensor.tensor);
    if (reference.values.size() != wanted || reference.tolerances.size() != wanted) {
      continue;
    }
    ToleranceBuckets buckets;
    const ToleranceUse use =
        tolerance_use(tensor.layout, outputs.bytes[place].data(), reference, buckets);
    if (!(use.share <= 1.0)) {
      return absl::StrCat(place_of(tensor.layout.name, coordinates(tensor.layout, use.element)),
                          " is at ",
                          use.share,
                          " of its tolerance");
    }
  }
  return "";
}

std::optional<v1::Drift> drift_from(const Workspace& workspace,
                                    const FollowingArm& baseline,
                                    const HostOutputs& expected,
                                    const FollowingArm& arm,
                                    const HostOutputs& found) {
  for (std::size_t place = 0; place < workspace.compared().size(); ++place) {
    const ComparedTensor& tensor = workspace.compared()[place];
    if (is_left(*baseline.plan, tensor) || is_left(*arm.plan, tensor)) {
      continue;
    }
    auto drift = find_drift(tensor.layout, expected.bytes[place].data(), found.bytes[place].data());
    if (drift.has_value()) {
      return drift;
    }
  }
  return std::nullopt;
}

void fail(const FollowingArm& arm, v1::BitsCheck check, const std::string& detail) {
  v1::BitsReport& bits = *arm.measurement->mutable_bits();
  bits.set_failed(check);
  bits.set_detail(detail);
}

absl::Status run_arms(Device& device,
                      Workspace& workspace,
                      const kernels::Problem& other,
                      std::span<const FollowingArm> arms) {
  HostOutputs expected;
  for (const FollowingArm& arm : arms) {
    absl::Status finished;
    HostOutputs found;
    ASSAY_RETURN_IF_ERROR(
        checked_call(device, workspace, other, *arm.plan, kSecondPoison, nullptr, finished, found));
    if (!finished.ok()) {
      fail(arm, v1::BITS_FINISHED, absl::StrCat("with other inputs: ", finished.ToString()));
      return absl::OkStatus();
    }
    const std::string how =
        digests_of(workspace.compared(), *arm.plan, found) == arm.checked->digests
            ? "a saved output: with other inputs it gives what it gave before, "
            : "with other inputs ";
    const bool is_baseline = &arm == arms.data();
    if (!is_baseline) {
      const auto drift = drift_from(workspace, arms.front(), expected, arm, found);
      if (drift.has_value()) {
        fail(arm, v1::BITS_EQUAL, absl::StrCat(how, describe(*drift)));
        *arm.measurement->mutable_bits()->mutable_drift() = *drift;
        return absl::OkStatus();
      }
    }
    if (!is_baseline) {
      continue;
    }
    if (const std::string failure = tolerance_failure(workspace, other, found); !failure.empty()) {
      fail(arm, v1::BITS_TOLERANCE, absl::StrCat(how, failure));
      return absl::OkStatus();
    }
    expected = std::move(found);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_other_inputs(Device& device,
                                Workspace& workspace,
                                const kernels::Problem& other,
                                std::span<const FollowingArm> arms) {
  if (!is_alike(workspace, other)) {
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(workspace.write_inputs(other));
  absl::Status run = run_arms(device, workspace, other, arms);
  ASSAY_RETURN_IF_ERROR(workspace.restore_inputs());
  return run;
}

}  // namespace assay::profiler
