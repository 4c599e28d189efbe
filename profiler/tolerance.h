// How far an output is from its float64 reference, as a share of the tolerance: 1.0 is the limit.
#pragma once

#include "kernels/operator.h"
#include "profiler/tensor.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace assay::profiler {

// What stands for a NaN, and for any share beyond it: figures that are stored are finite.
inline constexpr double kWorstShare = 1e9;

struct ToleranceUse {
  double share = 0;
  std::int64_t element = 0;  // where the share is largest
};

// Over the live elements. Requires one value and one tolerance per element of the tensor.
ToleranceUse tolerance_use(const TensorLayout& layout,
                           const std::byte* bytes,
                           const kernels::Reference& reference);

// References are slow to make; the newest are kept.
class ReferenceCache {
 public:
  // `key` stands for the problem and the tensor.
  std::shared_ptr<const kernels::Reference> find_or_make(const std::string& key,
                                                         const kernels::Problem& problem,
                                                         std::size_t tensor);

 private:
  std::list<std::pair<std::string, std::shared_ptr<const kernels::Reference>>> kept_;
};

}  // namespace assay::profiler
