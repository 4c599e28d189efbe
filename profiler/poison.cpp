#include "profiler/poison.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstring>

namespace assay::profiler {

namespace {

bool is_float(const TensorLayout& layout) {
  return layout.dtype == "f32" || layout.dtype == "f16" || layout.dtype == "bf16";
}

// Whether any byte of the element is still the poison of both runs.
bool is_unwritten(const std::byte* first, const std::byte* second, std::int64_t width) {
  for (std::int64_t i = 0; i < width; ++i) {
    if (first[i] == kFirstPoison && second[i] == kSecondPoison) {
      return true;
    }
  }
  return false;
}

// Zero bytes but for the sign bit, which is the top one of the last byte.
bool is_zero(const std::byte* element, std::int64_t width, bool is_signed_float) {
  const std::byte last =
      is_signed_float ? element[width - 1] & std::byte{0x7f} : element[width - 1];
  return last == std::byte{0} &&
         std::all_of(element, element + width - 1, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

std::optional<Unwritten> find_unwritten(const TensorLayout& layout,
                                        const std::byte* first,
                                        const std::byte* second) {
  const std::int64_t width = element_bytes(layout.dtype).value_or(1);
  Unwritten unwritten{layout.name, num_live_elements(layout), 0, {}};
  for (const ElementRange& range : layout.live) {
    // A range that was written is the same bytes in both runs.
    if (std::memcmp(first + range.begin * width,
                    second + range.begin * width,
                    static_cast<std::size_t>((range.end - range.begin) * width)) == 0) {
      continue;
    }
    for (std::int64_t element = range.begin; element < range.end; ++element) {
      if (!is_unwritten(first + element * width, second + element * width, width)) {
        continue;
      }
      if (unwritten.num_unwritten++ == 0) {
        unwritten.first_index = coordinates(layout, element);
      }
    }
  }
  if (unwritten.num_unwritten == 0) {
    return std::nullopt;
  }
  return unwritten;
}

std::string describe(const Unwritten& unwritten) {
  return absl::StrCat(with_commas(unwritten.num_unwritten),
                      " of ",
                      with_commas(unwritten.num_elements),
                      " elements of `",
                      unwritten.tensor,
                      "` not written, first ",
                      place_of(unwritten.tensor, unwritten.first_index));
}

std::int64_t count_nontrivial(const TensorLayout& layout,
                              const std::byte* bytes,
                              std::byte poison) {
  const std::int64_t width = element_bytes(layout.dtype).value_or(1);
  const bool is_signed_float = is_float(layout);
  std::int64_t count = 0;
  for (const ElementRange& range : layout.live) {
    for (std::int64_t element = range.begin; element < range.end; ++element) {
      const std::byte* at = bytes + element * width;
      const bool is_poison = std::all_of(at, at + width, [&](std::byte b) { return b == poison; });
      count += is_poison || is_zero(at, width, is_signed_float) ? 0 : 1;
    }
  }
  return count;
}

std::optional<std::size_t> find_changed(std::span<const std::byte> bytes, std::byte pattern) {
  const auto changed = std::ranges::find_if(bytes, [&](std::byte b) { return b != pattern; });
  if (changed == bytes.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(changed - bytes.begin());
}

}  // namespace assay::profiler
