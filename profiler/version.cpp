#include "profiler/version.h"

namespace assay::profiler {

std::string code_version() {
  return ASSAY_CODE_VERSION;
}

std::string compiler_version() {
  return "gcc " __VERSION__;
}

std::string cpu_build_flags() {
  return ASSAY_CPU_BUILD_FLAGS;
}

std::string cuda_build_flags() {
  return ASSAY_CUDA_BUILD_FLAGS;
}

}  // namespace assay::profiler
