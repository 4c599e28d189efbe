// Numbers that JSON does not have, but that some writers print.
#pragma once

#include <cstdint>
#include <string>

namespace assay::client {

// Replaces every NaN, nan, Infinity and inf outside strings, with or without a sign, by null, and
// says how many there were.
std::int64_t replace_non_finite(std::string& text);

}  // namespace assay::client
