#include "profiler/tolerance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace assay::profiler {
namespace {

constexpr std::size_t kMostKept = 16;
constexpr std::size_t kMostKeptBytes = std::size_t{4} << 30;

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  double value = 0;
  if (exponent == 0x1F) {
    value = fraction == 0 ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 0x400, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

kernels::DType dtype_of(const TensorLayout& layout) {
  for (const auto dtype : {kernels::DType::kF32,
                           kernels::DType::kF16,
                           kernels::DType::kBF16,
                           kernels::DType::kI8,
                           kernels::DType::kU8,
                           kernels::DType::kI64}) {
    if (kernels::name_of(dtype) == layout.dtype) {
      return dtype;
    }
  }
  return kernels::DType::kI32;
}

std::size_t bytes_of(const kernels::Reference& reference) {
  return sizeof(double) * (reference.values.size() + reference.tolerances.size()) +
         sizeof(std::int32_t) * reference.num_terms.size();
}

double share_of(double found, double expected, double tolerance) {
  if (found == expected) {
    return 0;
  }
  const double share = std::abs(found - expected) / tolerance;
  return share < kWorstShare ? share : kWorstShare;
}

}  // namespace

double element_value(kernels::DType dtype, const std::byte* bytes) {
  switch (dtype) {
    case kernels::DType::kF32:
      return load<float>(bytes);
    case kernels::DType::kF16:
      return half_value(load<std::uint16_t>(bytes));
    case kernels::DType::kBF16:
      return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(bytes)} << 16);
    case kernels::DType::kI8:
      return load<std::int8_t>(bytes);
    case kernels::DType::kU8:
      return load<std::uint8_t>(bytes);
    case kernels::DType::kI32:
      return load<std::int32_t>(bytes);
    case kernels::DType::kI64:
      return static_cast<double>(load<std::int64_t>(bytes));
  }
  return std::nan("");
}

void ToleranceBuckets::add(std::int32_t num_terms, double share) {
  const auto terms = static_cast<std::uint32_t>(std::max(num_terms, 0));
  Bucket& bucket = buckets_.at(static_cast<std::size_t>(std::bit_width(terms)));
  ++bucket.num_elements;
  bucket.worst = std::max(bucket.worst, share);
}

void ToleranceBuckets::write(
    google::protobuf::RepeatedPtrField<v1::ToleranceBucket>& buckets) const {
  for (std::size_t width = 0; width < buckets_.size(); ++width) {
    if (buckets_[width].num_elements == 0) {
      continue;
    }
    const std::int64_t end = std::int64_t{1} << width;
    v1::ToleranceBucket& bucket = *buckets.Add();
    bucket.set_least_terms(end / 2);
    bucket.set_most_terms(end - 1);
    bucket.set_num_elements(buckets_[width].num_elements);
    bucket.set_tolerance_used(buckets_[width].worst);
  }
}

ToleranceUse tolerance_use(const TensorLayout& layout,
                           const std::byte* bytes,
                           const kernels::Reference& reference,
                           ToleranceBuckets& buckets) {
  const kernels::DType dtype = dtype_of(layout);
  const std::int64_t size = kernels::size_bytes(dtype);
  const bool has_terms = reference.num_terms.size() == reference.values.size();
  ToleranceUse worst;
  for (const ElementRange& range : layout.live) {
    for (std::int64_t element = range.begin; element < range.end; ++element) {
      const auto place = static_cast<std::size_t>(element);
      const double share = share_of(element_value(dtype, bytes + element * size),
                                    reference.values[place],
                                    reference.tolerances[place]);
      if (share > worst.share) {
        worst = {.share = share, .element = element};
      }
      if (has_terms) {
        buckets.add(reference.num_terms[place], share);
      }
    }
  }
  return worst;
}

std::shared_ptr<const kernels::Reference> ReferenceCache::find_or_make(
    const std::string& key, const kernels::Problem& problem, std::size_t tensor) {
  const auto found = std::ranges::find(kept_, key, [](const auto& entry) { return entry.first; });
  if (found != kept_.end()) {
    return found->second;
  }
  kept_.emplace_front(key, std::make_shared<kernels::Reference>(problem.reference(tensor)));
  std::size_t num_bytes = 0;
  for (const auto& [name, reference] : kept_) {
    num_bytes += bytes_of(*reference);
  }
  while (kept_.size() > 1 && (kept_.size() > kMostKept || num_bytes > kMostKeptBytes)) {
    num_bytes -= bytes_of(*kept_.back().second);
    kept_.pop_back();
  }
  return kept_.front().second;
}

bool ReferenceCache::has(const std::string& key) const {
  return std::ranges::any_of(kept_, [&](const auto& entry) { return entry.first == key; });
}

}  // namespace assay::profiler
