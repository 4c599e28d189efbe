// Names of kernels as people read them.
#pragma once

#include <string>

namespace assay::profiler {

// The function alone, of a mangled name: no namespaces, template arguments or parameters. A name
// that is not mangled comes back as it is.
std::string short_kernel_name(const char* mangled);

// With all of that; a name that is not mangled comes back as it is.
std::string whole_kernel_name(const char* mangled);

}  // namespace assay::profiler
