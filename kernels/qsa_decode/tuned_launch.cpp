#include "kernels/qsa_decode/tuned_launch.h"

#include "kernels/tuned/tuned.h"

namespace assay::kernels::qsa_decode {

TunedLaunch tuned_launch(TunedForm form, const Workload& workload) {
  const assay_tuned::Entry* entry =
      find_tuned("qsa_decode", form == TunedForm::kTwoCell ? "two_cell" : "lane_cell", workload);
  const TunedLaunch defaults;
  const auto number = [&](std::string_view name, std::int32_t fallback) {
    return static_cast<std::int32_t>(assay_tuned::parameter(entry, name, std::int64_t{fallback}));
  };
  return {.cells_per_step = number("cells_per_step", defaults.cells_per_step),
          .merge_batch = number("merge_batch", defaults.merge_batch),
          .merge_blocks = number("merge_blocks", defaults.merge_blocks),
          .prefetch = assay_tuned::parameter(entry, "prefetch", "off") == "l2"};
}

}  // namespace assay::kernels::qsa_decode
