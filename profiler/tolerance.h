// How far an output is from its float64 reference, as a share of the tolerance: 1.0 is the limit.
#pragma once

#include "kernels/operator.h"
#include "profiler/tensor.h"
#include "proto/assay.pb.h"

#include <array>
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

// The worst share by how many terms an element sums: [1, 1], [2, 3], [4, 7] and so on.
class ToleranceBuckets {
 public:
  void add(std::int32_t num_terms, double share);
  // Those that have elements, ascending.
  void write(google::protobuf::RepeatedPtrField<v1::ToleranceBucket>& buckets) const;

 private:
  struct Bucket {
    std::int64_t num_elements = 0;
    double worst = 0;
  };

  std::array<Bucket, 33> buckets_ = {};  // by the number of bits of num_terms
};

// One element, at its first byte.
double element_value(kernels::DType dtype, const std::byte* bytes);

// Over the live elements; fills `buckets` where the reference knows the number of terms. Requires
// one value and one tolerance per element of the tensor.
ToleranceUse tolerance_use(const TensorLayout& layout,
                           const std::byte* bytes,
                           const kernels::Reference& reference,
                           ToleranceBuckets& buckets);

// References are slow to make; the newest are kept, within bounds of number and memory.
class ReferenceCache {
 public:
  // Without counting as a use.
  bool has(const std::string& key) const;

  // `key` stands for the problem and the tensor.
  std::shared_ptr<const kernels::Reference> find_or_make(const std::string& key,
                                                         const kernels::Problem& problem,
                                                         std::size_t tensor);

 private:
  std::list<std::pair<std::string, std::shared_ptr<const kernels::Reference>>> kept_;
};

}  // namespace assay::profiler
