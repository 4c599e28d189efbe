// One tensor in device memory between two guard bands. Memory is kept when the next tensor fits.
#pragma once

#include "kernels/operator.h"
#include "profiler/device.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::profiler {

// A band is the 64th part of its tensor within these limits: a row of a square matrix and more.
inline constexpr std::int64_t kLeastBandBytes = std::int64_t{4} << 10;
inline constexpr std::int64_t kMostBandBytes = std::int64_t{4} << 20;
// So much of it, next to the tensor, is looked at for writes.
inline constexpr std::int64_t kScannedBandBytes = std::int64_t{64} << 10;

enum class Side { kPastEnd, kBeforeStart };

// "past the end", "before the start"
std::string_view text_of(Side side);

// Of one of the two bands, a multiple of kLeastBandBytes.
std::int64_t band_bytes(std::int64_t num_bytes);

// What bands hold in a call on that poison: on kScratchPoison a NaN, on the others large and finite
// numbers of either sign, or zero and a large number in integers.
std::byte guard_pattern(kernels::DType dtype, std::byte poison);

class GuardedBuffer {
 public:
  // Makes room and writes both bands. RESOURCE_EXHAUSTED is harmless.
  absl::Status place(Device& device, std::int64_t num_bytes);
  // Fills both bands.
  absl::Status guard(Device& device, std::byte pattern);
  // Fills one band in two parts: `near_bytes` next to the tensor and the rest. guard() is due
  // before find_overrun() unless both are pattern().
  absl::Status split_band(
      Device& device, Side side, std::int64_t near_bytes, std::byte near, std::byte far);
  // The band that was written to; nullopt when both are whole.
  absl::StatusOr<std::optional<Side>> find_overrun(Device& device) const;

  // Null until placed.
  std::byte* data() const { return data_; }

  std::int64_t num_bytes() const { return num_bytes_; }

  // Of the whole bands.
  std::byte pattern() const { return pattern_; }

 private:
  DeviceMemory memory_ = {nullptr, [](std::byte*) {}};
  std::int64_t capacity_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t num_bytes_ = 0;
  std::byte pattern_ = {};
};

}  // namespace assay::profiler
