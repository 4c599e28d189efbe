// What a digest, a drift report and the poison checks need to know of a tensor. Bytes are on the
// host, row-major without padding; only elements in `live` are looked at.
#pragma once

#include "proto/text.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

// A half-open range of elements, in flat order.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct TensorLayout {
  std::string name;
  std::string dtype;  // f32, f16, bf16, i8, u8, i32 or i64
  std::vector<std::int64_t> shape;
  std::vector<ElementRange> live;  // sorted and disjoint
};

// INVALID_ARGUMENT lists the known names.
absl::StatusOr<std::int64_t> element_bytes(std::string_view dtype);

// OK when the dtype is known, the shape is not negative and `live` is sorted, disjoint and inside.
absl::Status validate(const TensorLayout& layout);

std::int64_t num_elements(const TensorLayout& layout);
std::int64_t num_live_elements(const TensorLayout& layout);

// The layout with every element live.
TensorLayout whole_tensor(std::string name, std::string dtype, std::vector<std::int64_t> shape);

// Coordinates of a flat index, last fastest; {0} for a scalar.
std::vector<std::int64_t> coordinates(const TensorLayout& layout, std::int64_t element);

// "out[0, 3, 17]"
std::string place_of(std::string_view tensor, const std::vector<std::int64_t>& coordinates);

using proto::with_commas;

}  // namespace assay::profiler
