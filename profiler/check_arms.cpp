#include "profiler/check_arms.h"

#include "profiler/refusal.h"
#include "profiler/tensor.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace assay::profiler {
namespace {

constexpr std::size_t kMostNamed = 6;

bool has_variant(const Device& device, const kernels::Operator& op, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const v1::OperatorInfo info = device.describe(op);
  return std::ranges::find(info.variants(), name, &v1::VariantInfo::name) != info.variants().end();
}

absl::StatusOr<ArmPlan> plan_text(const Device& device,
                                  const kernels::Operator& op,
                                  const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(const v1::Arm arm, proto::parse_arm(text));
  return device.plan(op, arm);
}

}  // namespace

void LeftOut::add(const std::string& what, const absl::Status& why) {
  const std::string reason(why.message());
  auto entry = std::ranges::find(by_reason_, reason, [](const auto& each) { return each.first; });
  if (entry == by_reason_.end()) {
    entry = by_reason_.insert(by_reason_.end(), {reason, {}});
  }
  if (std::ranges::find(entry->second, what) == entry->second.end()) {
    entry->second.push_back(what);
  }
}

std::string LeftOut::text() const {
  std::string text;
  for (const auto& [reason, all] : by_reason_) {
    const std::vector<std::string> named(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kMostNamed)));
    absl::StrAppend(&text, text.empty() ? "" : "; ", absl::StrJoin(named, ", "));
    if (all.size() > named.size()) {
      absl::StrAppend(&text,
                      " and ",
                      with_commas(static_cast<std::int64_t>(all.size() - named.size())),
                      " more");
    }
    absl::StrAppend(&text, " (", reason, ")");
  }
  return text;
}

absl::StatusOr<std::vector<std::string>> family_arms(const Device& device,
                                                     const kernels::Operator& op) {
  const v1::OperatorInfo info = device.describe(op);
  if (info.variants().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("operator ", info.name(), " has no variants on this device"));
  }
  std::vector<std::string> arms;
  for (const v1::VariantInfo& variant : info.variants()) {
    if (arms.empty() || variant.family() == kernels::kBaselineFamily) {
      arms.push_back(variant.name());
    }
  }
  return arms;
}

absl::StatusOr<const ArmPlan*> ArmTable::find(const std::string& text, LeftOut& left_out) {
  auto place = plans_.find(text);
  if (place == plans_.end()) {
    place = plans_.emplace(text, plan_text(device_, op_, text)).first;
  }
  const absl::Status& status = place->second.status();
  if (status.ok()) {
    return &*place->second;
  }
  // A device may also lack the axis that the arm sets.
  const bool is_of_device = absl::IsFailedPrecondition(status) || absl::IsNotFound(status);
  if (!is_of_device && has_variant(device_, op_, text)) {
    return refused(proto::annotate(status, absl::StrCat("arm `", text, "`")));
  }
  left_out.add(text, status);
  return nullptr;
}

absl::StatusOr<kernels::Workload> checked_workload(const kernels::Operator& op,
                                                   const kernels::Workload& given,
                                                   const std::string& name) {
  auto axes = kernels::complete_settings(op.axes, given.axes);
  if (!axes.ok()) {
    return refused(proto::annotate(axes.status(), name));
  }
  kernels::Workload workload = {.axes = *std::move(axes), .seed = given.seed};
  if (op.validate != nullptr) {
    if (const absl::Status status = op.validate(workload); !status.ok()) {
      return refused(proto::annotate(status, name));
    }
  }
  return workload;
}

}  // namespace assay::profiler
