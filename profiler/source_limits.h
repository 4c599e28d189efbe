// What one compile of source may take, beside the limits of tuning/source_spec.h; errors name the
// limit and the size.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace assay::profiler {

inline constexpr std::size_t kMostOptionBytes = std::size_t{4} << 10;  // of an option or a name
inline constexpr std::size_t kMostOptions = 256;                       // defines among them
inline constexpr std::size_t kMostCubinBytes = std::size_t{48} << 20;  // it has to fit in a frame
inline constexpr std::size_t kMostLogBytes = std::size_t{64} << 10;

struct CompileLimits {
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // address space of the compiler
  std::chrono::seconds processor{60};                 // of one compile
  std::chrono::nanoseconds wall = std::chrono::seconds(120);
};

// Compiled sources that are kept.
inline constexpr std::size_t kMostKeptCubins = 64;
inline constexpr std::size_t kMostKeptCubinBytes = std::size_t{64} << 20;

}  // namespace assay::profiler
