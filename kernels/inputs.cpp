#include "kernels/inputs.h"

namespace assay::kernels {

float random_normal(std::uint64_t key, std::uint64_t index) {
  std::int32_t sum = 0;
  for (std::uint64_t part = 0; part < 3; ++part) {
    const std::uint64_t word = random_word(key, index * 3 + part);
    for (int shift = 0; shift < 64; shift += 16) {
      sum += static_cast<std::int32_t>((word >> shift) & 0xffffU);
    }
  }
  // Twelve uniforms in [0, 65535] have the mean 12 * 65535 / 2; both steps are exact.
  return static_cast<float>(sum - 393'210) * 0x1p-16F;
}

}  // namespace assay::kernels
