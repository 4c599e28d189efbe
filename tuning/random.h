// Random numbers that are the same on every machine and with every library: splitmix64, a counter
// and a mix of its bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::tuning {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return mixed ^ (mixed >> 31);
  }

  // One of 0 to size - 1, each as likely; size at least 1.
  std::size_t below(std::size_t size) {
    const std::uint64_t limit = size;
    // What is left over by whole multiples of the size is drawn again.
    const std::uint64_t left_over = (~limit + 1) % limit;
    std::uint64_t drawn = bits();
    while (drawn < left_over) {
      drawn = bits();
    }
    return static_cast<std::size_t>(drawn % limit);
  }

 private:
  std::uint64_t state_;
};

}  // namespace assay::tuning
