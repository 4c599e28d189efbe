// Copies of the modules' images as the driver loaded them, to find a kernel's machine code in.
// Thread-safe: the driver loads modules on whatever thread launches first. Images are kept to the
// end of the process, also those of modules that were unloaded.
#pragma once

#include "absl/status/statusor.h"

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

// While one is alive, modules that this thread loads are not kept: whoever loads them knows their
// code, and unloads them again.
class UnkeptModules {
 public:
  UnkeptModules();
  UnkeptModules(const UnkeptModules&) = delete;
  UnkeptModules& operator=(const UnkeptModules&) = delete;
  ~UnkeptModules();
};

class LoadedModules {
 public:
  // Called from inside the driver: it copies and returns.
  void add(std::span<const std::byte> cubin);

  // The digest, as text, of the kernel's code in the newest module that has it. NOT_FOUND names the
  // kernel; INVALID_ARGUMENT when no module has it and one cannot be read.
  absl::StatusOr<std::string> machine_code(std::string_view kernel) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::vector<std::byte>> images_;  // guarded by mutex_, the newest last
};

}  // namespace assay::profiler
