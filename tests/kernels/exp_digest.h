// A digest of the AVX2 form of exp_bits over a range of arguments, built for that instruction set.
#pragma once

#include <cstdint>

namespace assay::kernels {

// Sums a hash of argument and result, both as bits; the order of arguments does not matter, so
// ranges add up. [first, end) are the bits of floats, a multiple of eight of them.
std::uint64_t exp_digest_avx2(std::uint32_t first, std::uint32_t end);

void exp_avx2(const float* arguments, float* results);

}  // namespace assay::kernels
