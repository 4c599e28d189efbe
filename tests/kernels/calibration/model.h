// The rounds of the contract written out once more, and the inputs of a problem.
#pragma once

#include "kernels/operator.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace assay::kernels::calibration {

inline std::uint32_t word_after(std::uint32_t word, std::uint32_t rounds) {
  while (rounds-- > 0) {
    word = word * 747'796'405U + 2'891'336'453U;
    word ^= word >> 15U;
  }
  return word;
}

inline std::vector<std::uint32_t> words_of(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace assay::kernels::calibration
