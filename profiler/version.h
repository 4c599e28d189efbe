// What this program was built from and with.
#pragma once

#include <string>

namespace assay::profiler {

std::string code_version();
std::string compiler_version();

// What kernels are compiled with, as far as it can change bits or speed.
std::string cpu_build_flags();
std::string cuda_build_flags();

}  // namespace assay::profiler
