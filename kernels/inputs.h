// Deterministic inputs: a value is a pure function of (key, index), by integer operations and exact
// fp32 steps only, so that every host and device makes the same bytes.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::kernels {

// One stream of random words for each (seed, name).
constexpr std::uint64_t mix_bits(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

constexpr std::uint64_t make_key(std::uint64_t seed, std::string_view name) {
  std::uint64_t key = mix_bits(seed + 0x9e3779b97f4a7c15U);
  for (const char letter : name) {
    key = mix_bits(key ^ static_cast<unsigned char>(letter));
  }
  return key;
}

constexpr std::uint64_t random_word(std::uint64_t key, std::uint64_t index) {
  return mix_bits(key + (index + 1) * 0x9e3779b97f4a7c15U);
}

// In [0, bound); bound is at most 2^32.
constexpr std::uint32_t random_below(std::uint64_t key, std::uint64_t index, std::uint64_t bound) {
  return static_cast<std::uint32_t>(((random_word(key, index) >> 32) * bound) >> 32);
}

// Near the standard normal: the scaled sum of twelve 16-bit uniforms, in [-6, 6].
float random_normal(std::uint64_t key, std::uint64_t index);

}  // namespace assay::kernels
