// What a CUDA device and its host offer, probed and never assumed.
#pragma once

#include "profiler/nvml.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cuda_runtime_api.h>

#include <string>

namespace assay::profiler {

// "GPU-..." as NVML writes it.
std::string uuid_text(const cudaUUID_t& uuid);

void add_capability(v1::Device& device, const std::string& name, const absl::Status& status);

// Whether the driver lets this user read hardware counters.
absl::Status counters_permitted();

// Model, sizes and versions.
absl::StatusOr<v1::Device> describe_cuda_device(int ordinal);

// Sets the fields of a block that say how the device was while it ran. `before` and `during` are
// readings; the clock is the one of `during`.
void set_device_state(const DeviceState& before, const DeviceState& during, v1::Block& block);

// The device's state, all 0 without NVML.
DeviceState read_state(const Nvml* nvml);

}  // namespace assay::profiler
