// Arrays as NumPy saves them (.npy), for the data of tensors: versions 1 and 2, C order,
// little-endian, of the element types that tensors and references have.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

struct NpyArray {
  std::string dtype;  // f16, f32, f64, i8, u8, i32 or i64
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;  // of the elements, which end with the file
};

bool is_npy(std::string_view bytes);

// INVALID_ARGUMENT says what it cannot be: another version, order, type, or number of bytes.
absl::StatusOr<NpyArray> parse_npy(std::string_view bytes);

}  // namespace assay::client
