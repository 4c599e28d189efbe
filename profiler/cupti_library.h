// CUPTI's shared library, found at run time so that a host without it still starts.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cupti_result.h>

#include <cstdint>
#include <dlfcn.h>

namespace assay::profiler {

struct CuptiLibrary {
  void* handle = nullptr;  // stays loaded: CUPTI's threads may be in it to the end
  std::uint32_t version = 0;
  decltype(&cuptiGetResultString) result_string = nullptr;

  // UNAVAILABLE, or PERMISSION_DENIED, with the call, the code's name and its number.
  absl::Status status_of(CUptiResult result, const char* call) const;
};

// UNAVAILABLE when it cannot be loaded, or its major version is not that of the headers, by whose
// layout records and parameters are read.
absl::StatusOr<CuptiLibrary> load_cupti();

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace assay::profiler
