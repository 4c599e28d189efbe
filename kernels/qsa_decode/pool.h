// The contents of the K and V pools: raw bits by row, the same for every workload of a format, so
// that a larger pool begins with a smaller one and buffers can be kept. Row r of a tensor is one
// cell of one KV head. fp16 magnitudes lie in [2^-4, 2), int8 codes in [-127, 127] with scales in
// [1/64, 1/32), q4_0 nibbles are uniform with scales in [1/4, 1/2).
#pragma once

#include "kernels/qsa_decode/contract.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::kernels::qsa_decode {

enum class RowKind : std::uint8_t { kNone, kHalves, kCodes, kScales, kQ4Blocks };

// What the rows of kK, kKScales, kV or kVScales hold.
RowKind row_kind(KvFormat format, Tensor tensor);
std::int64_t row_bytes(RowKind kind);

// Writes rows [first_row, first_row + bytes.size() / row_bytes).
void fill_rows(RowKind kind, Tensor tensor, std::int64_t first_row, std::span<std::byte> bytes);

// One row as exact values.
void dequantised_row(KvFormat format,
                     bool is_key,
                     std::int64_t row,
                     std::span<double, kHeadDim> values);

}  // namespace assay::kernels::qsa_decode
