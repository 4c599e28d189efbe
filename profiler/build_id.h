// What tells one build of this program from another.
#pragma once

#include <cstdint>
#include <string>

namespace assay::profiler {

// The linker's build id in hexadecimal; empty when the program carries none.
std::string build_id();

// An address of this program's code or data, independent of where it was loaded.
std::uintptr_t relative_address(const void* address);

}  // namespace assay::profiler
