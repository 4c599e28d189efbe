#include "kernels/attention/tuned_items.h"

#include "kernels/tuned/tuned.h"

namespace assay::kernels::attention {

TunedItems tuned_items(std::string_view operator_name,
                       std::string_view rows_axis,
                       const Workload& workload) {
  const assay_tuned::Entry* entry = find_tuned(operator_name, "warpgroup", workload);
  if (entry == nullptr) {
    return {};
  }
  // Its axes are the workload's, in the same order.
  for (std::size_t i = 0; i < workload.axes.size(); ++i) {
    const auto& [name, value] = workload.axes[i];
    const bool is_cut_to = name == "heads" || name == "kv_heads" || name == rows_axis;
    if (is_cut_to && value != entry->workload[i].value) {
      return {};
    }
  }
  const auto number = [&](std::string_view name) {
    return static_cast<std::int32_t>(assay_tuned::parameter(entry, name, std::int64_t{0}));
  };
  return {.pairs = number("pairs"), .stages = number("stages")};
}

}  // namespace assay::kernels::attention
