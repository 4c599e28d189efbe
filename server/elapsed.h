// Time on the steady clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace assay::server {

inline std::int64_t elapsed_ns(std::chrono::steady_clock::time_point since) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - since).count();
}

}  // namespace assay::server
