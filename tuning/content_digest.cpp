#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"
#include "xxhash.h"

#include <algorithm>

namespace assay::tuning {

std::string content_digest(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return absl::StrCat(absl::Hex(hash.high64, absl::kZeroPad16),
                      absl::Hex(hash.low64, absl::kZeroPad16));
}

bool is_content_digest(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return text.size() == 32 && std::ranges::all_of(text, is_digit);
}

}  // namespace assay::tuning
