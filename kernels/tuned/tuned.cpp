#include "kernels/tuned/tuned.h"

#include <vector>

namespace assay::kernels {

const assay_tuned::Entry* find_tuned(std::string_view operator_name,
                                     std::string_view variant,
                                     const Workload& workload) {
  std::vector<assay_tuned::Setting> axes;
  axes.reserve(workload.axes.size());
  for (const auto& [name, value] : workload.axes) {
    axes.push_back({name, value});
  }
  return assay_tuned::find(operator_name, variant, "9.0", axes);
}

}  // namespace assay::kernels
