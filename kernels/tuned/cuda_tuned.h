// Whether the current device is one that the table of launch parameters is of.
#pragma once

#include <cuda_runtime_api.h>

namespace assay::kernels {

// Of the devices that the table is of: 9.0.
inline constexpr int kTunedComputeCapability = 90;

// False too where the device does not tell; the runtime's error is cleared.
inline bool is_tuned_device() {
  int device = 0;
  int major = 0;
  int minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return false;
  }
  return 10 * major + minor == kTunedComputeCapability;
}

}  // namespace assay::kernels
