// Clocks, temperature, power and throttle reasons of one device, through a library that is loaded
// when it is there. Never sets anything.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace assay::profiler {

// 0 stands for a figure that the driver does not give.
struct DeviceState {
  std::uint32_t sm_clock_mhz = 0;
  std::uint32_t most_sm_clock_mhz = 0;  // the highest that the device has
  std::uint32_t memory_clock_mhz = 0;
  std::uint32_t temperature_celsius = 0;
  std::uint32_t power_milliwatts = 0;
  std::uint64_t throttle_reasons = 0;
  std::uint32_t num_other_processes = 0;  // that have a context on the device
};

// "power cap, hardware slowdown"; empty when nothing holds the device back.
std::string throttle_text(std::uint64_t reasons);

// How many of the processes with a context are others. A process that finds itself among them
// leaves itself out; one that does not (process ids may be those of another namespace) takes one
// of them for itself.
std::uint32_t count_others(std::span<const std::uint32_t> process_ids, std::uint32_t own_id);

// The reasons that make a block no sample of the kernel: heat and hardware, not the power cap.
std::string disqualifying_text(std::uint64_t reasons);

class Nvml {
 public:
  // By UUID ("GPU-..."), since NVML and CUDA may number cards differently. UNAVAILABLE says why.
  static absl::StatusOr<std::unique_ptr<Nvml>> open(const std::string& uuid);

  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  virtual ~Nvml() = default;

  virtual DeviceState read() const = 0;
  virtual std::string driver_version() const = 0;

 protected:
  Nvml() = default;
};

}  // namespace assay::profiler
