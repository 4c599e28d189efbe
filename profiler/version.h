// What this program was built from and with.
#pragma once

#include <string>

namespace assay::profiler {

std::string code_version();
std::string compiler_version();

}  // namespace assay::profiler
