// The writer side of the KV formats: how rows of 256 values become codes. Deterministic to the
// bit, ties included.
#pragma once

#include "kernels/qsa_decode/contract.h"

#include <array>
#include <cstdint>
#include <span>

namespace assay::kernels::qsa_decode {

using Row = std::span<const float, kHeadDim>;

struct Int8Row {
  std::array<std::int8_t, kHeadDim> codes;
  std::array<std::uint16_t, kHeadDim / kScaleGroup> scales;  // fp16
};

// Round to nearest even; overflow becomes infinity.
std::uint16_t half_from_float(float value);

std::array<std::uint16_t, kHeadDim> quantise_fp16(Row row);

// scale = fp16(max |x| / 127) for each 64 dims; codes are rounded to even against the stored scale.
Int8Row quantise_int8(Row row);

// Blocks of 32: d = (value of largest magnitude) / -8, of equal magnitudes the larger value; code =
// clamp(trunc(x / d + 8.5), 0, 15); fp16(d) is stored. The row is rotated already.
std::array<std::uint8_t, kQ4RowBytes> quantise_q4_0(Row row);

// The orthonormal Walsh-Hadamard transform, its own inverse.
void hadamard(std::span<float, kHeadDim> row);

}  // namespace assay::kernels::qsa_decode
