#include "profiler/version.h"

namespace assay::profiler {

std::string code_version() {
  return ASSAY_CODE_VERSION;
}

std::string compiler_version() {
  return "gcc " __VERSION__;
}

}  // namespace assay::profiler
