#include "profiler/guarded_buffer.h"

#include "profiler/poison.h"
#include "proto/status.h"

#include <algorithm>
#include <vector>

namespace assay::profiler {
namespace {

// A band's share of its tensor is one part of so many.
constexpr std::int64_t kBandShare = 64;

// Below most numbers, and above them: what a minimum and a maximum follow.
constexpr std::byte kLowPattern{0xfb};
constexpr std::byte kHighPattern{0x7b};
// What a test for zero follows.
constexpr std::byte kZeroPattern{0};

bool is_float(kernels::DType dtype) {
  return dtype == kernels::DType::kF32 || dtype == kernels::DType::kF16 ||
         dtype == kernels::DType::kBF16;
}

}  // namespace

std::string_view text_of(Side side) {
  return side == Side::kPastEnd ? "past the end" : "before the start";
}

std::int64_t band_bytes(std::int64_t num_bytes) {
  const std::int64_t share = num_bytes / kBandShare / kLeastBandBytes * kLeastBandBytes;
  return std::clamp(share, kLeastBandBytes, kMostBandBytes);
}

std::byte guard_pattern(kernels::DType dtype, std::byte poison) {
  if (poison == kScratchPoison) {
    return kScratchPoison;
  }
  if (poison == kSecondPoison) {
    return kHighPattern;
  }
  return is_float(dtype) ? kLowPattern : kZeroPattern;
}

absl::Status GuardedBuffer::place(Device& device, std::int64_t num_bytes) {
  if (memory_ == nullptr || num_bytes > capacity_bytes_) {
    memory_.reset();
    data_ = nullptr;
    ASSAY_ASSIGN_OR_RETURN(memory_, device.allocate(num_bytes + 2 * band_bytes(num_bytes)));
    capacity_bytes_ = num_bytes;
  }
  data_ = memory_.get() + band_bytes(num_bytes);
  num_bytes_ = num_bytes;
  return guard(device, kGuardPattern);
}

absl::Status GuardedBuffer::guard(Device& device, std::byte pattern) {
  pattern_ = pattern;
  ASSAY_RETURN_IF_ERROR(split_band(device, Side::kPastEnd, 0, pattern, pattern));
  return split_band(device, Side::kBeforeStart, 0, pattern, pattern);
}

absl::Status GuardedBuffer::split_band(
    Device& device, Side side, std::int64_t near_bytes, std::byte near, std::byte far) {
  const std::int64_t far_bytes = band_bytes(num_bytes_) - near_bytes;
  std::byte* const end = data_ + num_bytes_;
  if (near_bytes > 0) {
    std::byte* const at = side == Side::kPastEnd ? end : data_ - near_bytes;
    ASSAY_RETURN_IF_ERROR(device.fill(at, near, near_bytes));
  }
  if (far_bytes > 0) {
    std::byte* const at = side == Side::kPastEnd ? end + near_bytes : memory_.get();
    ASSAY_RETURN_IF_ERROR(device.fill(at, far, far_bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Side>> GuardedBuffer::find_overrun(Device& device) const {
  const std::int64_t num_scanned = std::min(band_bytes(num_bytes_), kScannedBandBytes);
  std::vector<std::byte> band(static_cast<std::size_t>(num_scanned));
  for (const Side side : {Side::kPastEnd, Side::kBeforeStart}) {
    const std::byte* at = side == Side::kPastEnd ? data_ + num_bytes_ : data_ - num_scanned;
    ASSAY_RETURN_IF_ERROR(device.read(band, at));
    if (find_changed(band, pattern_).has_value()) {
      return side;
    }
  }
  return std::nullopt;
}

}  // namespace assay::profiler
