#include "profiler/cuda_probe.h"

#include "profiler/cuda_status.h"
#include "profiler/version.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <unistd.h>

namespace assay::profiler {
namespace {

// 13000 is 13.0.
std::string version_text(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

}  // namespace

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string digits = absl::BytesToHexString(std::string(uuid.bytes, sizeof uuid.bytes));
  for (const std::size_t place : {20U, 16U, 12U, 8U}) {
    digits.insert(place, 1, '-');
  }
  return absl::StrCat("GPU-", digits);
}

void add_capability(v1::Device& device, const std::string& name, const absl::Status& status) {
  v1::Capability& capability = *device.add_capabilities();
  capability.set_name(name);
  capability.set_available(status.ok());
  capability.set_reason(std::string(status.message()));
}

absl::Status counters_permitted() {
  std::ifstream file("/proc/driver/nvidia/params");
  if (!file) {
    return absl::UnavailableError("/proc/driver/nvidia/params cannot be read");
  }
  for (std::string line; std::getline(file, line);) {
    if (line == "RmProfilingAdminOnly: 1" && geteuid() != 0) {
      return absl::PermissionDeniedError("the driver keeps counters to the administrator");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Device> describe_cuda_device(int ordinal) {
  cudaDeviceProp properties;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaGetDeviceProperties(&properties, ordinal));
  int driver_version = 0;
  ASSAY_RETURN_IF_CUDA_ERROR(cudaDriverGetVersion(&driver_version));
  v1::Device device;
  device.set_backend("cuda");
  device.set_available(true);
  device.set_model(properties.name);
  device.set_uuid(uuid_text(properties.uuid));
  device.set_compute_capability(absl::StrCat(properties.major, ".", properties.minor));
  device.set_num_multiprocessors(static_cast<std::uint32_t>(properties.multiProcessorCount));
  device.set_l2_bytes(properties.l2CacheSize);
  device.set_memory_bytes(static_cast<std::int64_t>(properties.totalGlobalMem));
  device.set_driver_version(absl::StrCat("CUDA ", version_text(driver_version)));
  device.set_toolkit_version(absl::StrCat("CUDA ", version_text(CUDART_VERSION)));
  device.set_build_flags(cuda_build_flags());
  device.set_code_version(code_version());
  return device;
}

DeviceState read_state(const Nvml* nvml) {
  return nvml == nullptr ? DeviceState() : nvml->read();
}

void set_device_state(const DeviceState& before, const DeviceState& during, v1::Block& block) {
  const std::uint64_t reasons = before.throttle_reasons | during.throttle_reasons;
  block.set_sm_clock_mhz(during.sm_clock_mhz);
  block.set_wanted_sm_clock_mhz(during.most_sm_clock_mhz);
  block.set_memory_clock_mhz(during.memory_clock_mhz);
  block.set_temperature_celsius(during.temperature_celsius);
  block.set_power_milliwatts(during.power_milliwatts);
  block.set_num_other_processes(std::max(before.num_other_processes, during.num_other_processes));
  block.set_throttle_reasons(throttle_text(reasons));
  if (const std::string because = disqualifying_text(reasons); !because.empty()) {
    block.set_disqualified(true);
    block.set_disqualified_because(because);
  }
}

}  // namespace assay::profiler
