// NVRTC's shared library, loaded from a path so that a host without it still builds and starts.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <string>

namespace assay::profiler {

// What NVRTC's functions return, and the values that matter here.
using NvrtcResult = int;
inline constexpr NvrtcResult kNvrtcSuccess = 0;
inline constexpr NvrtcResult kNvrtcOutOfMemory = 1;
inline constexpr NvrtcResult kNvrtcInvalidOption = 5;
inline constexpr NvrtcResult kNvrtcCompilation = 6;

struct NvrtcProgram;

struct NvrtcLibrary {
  // `path` is the file; what it loads by itself later is loaded now, from the same folder.
  static absl::StatusOr<NvrtcLibrary> load(const std::string& path);

  // INTERNAL, or RESOURCE_EXHAUSTED, with the call and the code's own name.
  absl::Status status_of(NvrtcResult result, const char* call) const;

  std::string version;  // "13.0"
  const char* (*error_string)(NvrtcResult) = nullptr;
  NvrtcResult (*create)(NvrtcProgram**,
                        const char* source,
                        const char* name,
                        int num_headers,
                        const char* const* headers,
                        const char* const* header_names) = nullptr;
  NvrtcResult (*destroy)(NvrtcProgram**) = nullptr;
  NvrtcResult (*add_name)(NvrtcProgram*, const char* name) = nullptr;
  NvrtcResult (*compile)(NvrtcProgram*, int num_options, const char* const* options) = nullptr;
  NvrtcResult (*log_size)(NvrtcProgram*, std::size_t* size) = nullptr;
  NvrtcResult (*log)(NvrtcProgram*, char* log) = nullptr;
  NvrtcResult (*cubin_size)(NvrtcProgram*, std::size_t* size) = nullptr;
  NvrtcResult (*cubin)(NvrtcProgram*, char* cubin) = nullptr;
  NvrtcResult (*lowered_name)(NvrtcProgram*, const char* name, const char** lowered) = nullptr;
};

}  // namespace assay::profiler
