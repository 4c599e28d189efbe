#include "profiler/guarded_buffer.h"

#include "profiler/poison.h"
#include "proto/status.h"

#include <array>

namespace assay::profiler {
namespace {

constexpr std::int64_t kGuardBytes = 4096;

}  // namespace

absl::Status GuardedBuffer::place(Device& device, std::int64_t num_bytes) {
  if (memory_ == nullptr || num_bytes > capacity_bytes_) {
    memory_.reset();
    data_ = nullptr;
    ASSAY_ASSIGN_OR_RETURN(memory_, device.allocate(num_bytes + 2 * kGuardBytes));
    capacity_bytes_ = num_bytes;
  }
  data_ = memory_.get() + kGuardBytes;
  num_bytes_ = num_bytes;
  ASSAY_RETURN_IF_ERROR(device.fill(memory_.get(), kGuardPattern, kGuardBytes));
  return device.fill(data_ + num_bytes, kGuardPattern, kGuardBytes);
}

absl::StatusOr<std::optional<std::string_view>> GuardedBuffer::find_overrun(Device& device) const {
  std::array<std::byte, kGuardBytes> band;
  ASSAY_RETURN_IF_ERROR(device.read(band, data_ + num_bytes_));
  if (find_changed(band, kGuardPattern).has_value()) {
    return "past the end";
  }
  ASSAY_RETURN_IF_ERROR(device.read(band, memory_.get()));
  if (find_changed(band, kGuardPattern).has_value()) {
    return "before the start";
  }
  return std::nullopt;
}

}  // namespace assay::profiler
