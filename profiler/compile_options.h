// Options of the source compiler that a request may give. An option can make the compiler read or
// write files, so only those in a list pass; the architecture and the folders are the runner's.
//
// Numerics, where no option says otherwise, are the compiler's own: --fmad=true (a multiply and an
// add become one fused operation), --ftz=false, --prec-div=true, --prec-sqrt=true. Options are part
// of a source's identity, so another choice is another code.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <string_view>

namespace assay::profiler {

// The option in the one spelling that stands for it: "-fmad=false" is "--fmad=false",
// "-use_fast_math" is "--use_fast_math". INVALID_ARGUMENT names what is refused and lists what is
// allowed.
absl::StatusOr<std::string> compile_option(std::string_view text);

// "NAME" or "NAME=TEXT" as an option. INVALID_ARGUMENT unless NAME is a macro's name and TEXT one
// line.
absl::StatusOr<std::string> define_option(std::string_view define);

}  // namespace assay::profiler
