// An NVTX range for the lifetime of the object: experiment, arm, call, stage. Without a toolkit it
// compiles to nothing; without a tool attached it costs next to nothing.
#pragma once

#include <string>
#include <string_view>

#ifdef ASSAY_HAS_CUDA
#include <nvtx3/nvToolsExt.h>
#endif

namespace assay::profiler {

class NvtxRange {
 public:
#ifdef ASSAY_HAS_CUDA
  // A literal costs no copy.
  explicit NvtxRange(const char* name) {
    nvtxRangePushA(name);
  }

  explicit NvtxRange(std::string_view name) : NvtxRange(std::string(name).c_str()) {}

  ~NvtxRange() {
    nvtxRangePop();
  }
#else
  explicit NvtxRange(std::string_view /*name*/) {}

  ~NvtxRange() {}  // not trivial, so that an unused range is no warning
#endif

  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace assay::profiler
