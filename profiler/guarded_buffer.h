// One tensor in device memory between two guard bands. Memory is kept when the next tensor fits.
#pragma once

#include "profiler/device.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::profiler {

class GuardedBuffer {
 public:
  // Makes room and writes both bands. RESOURCE_EXHAUSTED is harmless.
  absl::Status place(Device& device, std::int64_t num_bytes);
  // "past the end" or "before the start" when a band was written to; nullopt when both are whole.
  absl::StatusOr<std::optional<std::string_view>> find_overrun(Device& device) const;

  // Null until placed.
  std::byte* data() const { return data_; }

  std::int64_t num_bytes() const { return num_bytes_; }

 private:
  DeviceMemory memory_ = {nullptr, [](std::byte*) {}};
  std::int64_t capacity_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t num_bytes_ = 0;
};

}  // namespace assay::profiler
