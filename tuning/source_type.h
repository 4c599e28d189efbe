// The element types of sources' tensors and scalars, and the bytes of a value of one.
#pragma once

#include "tuning/value.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::tuning {

// Of f32, f16, bf16, i8, u8, i32, i64 and (of scalars and references) f64; 0 for any other text.
std::int64_t source_type_bytes(std::string_view dtype);

bool is_float_type(std::string_view dtype);

// Little-endian; of floats the nearest value, ties to even. Requires a known dtype.
// INVALID_ARGUMENT: no number, no integer where one is needed, or beyond the type's range.
absl::StatusOr<std::vector<std::byte>> source_type_value(std::string_view dtype,
                                                         const Value& value);

}  // namespace assay::tuning
