// What tells one build of this program from another.
#pragma once

#include <cstdint>
#include <string>

namespace assay::profiler {

// The linker's build id in hexadecimal, empty when the program carries none, and the digest of the
// library whose kernels it runs, if any.
std::string build_id();

// Before anything asks for the build id.
void add_library_to_build_id(const std::string& digest);

// An address of this program's code or data, independent of where it was loaded.
std::uintptr_t relative_address(const void* address);

}  // namespace assay::profiler
