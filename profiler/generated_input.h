// Inputs that a module leaves to us: bytes that are a function of (key, index) alone, by integer
// operations and exact fp32 steps, so that every host makes the same.
#pragma once

#include "kernels/operator.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace assay::profiler {

// Integers are uniform over all their values in both.
enum class Generator : std::uint8_t {
  kNormal,   // near the standard normal, in [-6, 6]
  kUniform,  // in [-1, 1)
};

// Nearest, ties to even; of a value that is finite in half.
std::uint16_t half_of(float value);
// Nearest, ties to even; of a finite value.
std::uint16_t bf16_of(float value);

// Fills whole elements; `key` as kernels::make_key gives it.
void generate_input(std::uint64_t key,
                    kernels::DType dtype,
                    Generator generator,
                    std::span<std::byte> bytes);

}  // namespace assay::profiler
