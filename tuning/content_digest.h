// The name of bytes by what they are: XXH3-128, as the digests of tensors and code.
#pragma once

#include <string>
#include <string_view>

namespace assay::tuning {

// 32 lower-case hexadecimal digits, the same on every host.
std::string content_digest(std::string_view bytes);

// Whether `text` could be one.
bool is_content_digest(std::string_view text);

}  // namespace assay::tuning
