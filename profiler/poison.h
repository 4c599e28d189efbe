// Was everything written, and is there anything in it? An output is filled with one poison byte
// before a checked call and with the other before the next; what changes with the poison was not
// written.
#pragma once

#include "profiler/tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

inline constexpr std::byte kFirstPoison{0xa5};
inline constexpr std::byte kSecondPoison{0x5a};
// NaN in every floating-point type, so that scratch that is read before it is written shows.
inline constexpr std::byte kScratchPoison{0xff};
// What guard bands around a buffer are filled with.
inline constexpr std::byte kGuardPattern{0xc3};

struct Unwritten {
  std::string tensor;
  std::int64_t num_elements = 0;  // live ones
  std::int64_t num_unwritten = 0;
  std::vector<std::int64_t> first_index;
};

// `first` and `second` are the tensor after calls on kFirstPoison and on kSecondPoison. An element
// counts when any of its bytes is the poison of both. Nullopt when every live element was written.
std::optional<Unwritten> find_unwritten(const TensorLayout& layout,
                                        const std::byte* first,
                                        const std::byte* second);

// "512 of 1,024 elements of `out` not written, first out[512]"
std::string describe(const Unwritten& unwritten);

// Live elements that are neither zero (of either sign) nor all `poison`.
std::int64_t count_nontrivial(const TensorLayout& layout,
                              const std::byte* bytes,
                              std::byte poison = kFirstPoison);

// The place of the first byte that is not `pattern`: a guard band that was written to.
std::optional<std::size_t> find_changed(std::span<const std::byte> bytes, std::byte pattern);

}  // namespace assay::profiler
