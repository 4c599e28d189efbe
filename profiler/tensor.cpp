#include "profiler/tensor.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::profiler {

namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> kTypes = {
    {{"bf16", 2}, {"f16", 2}, {"f32", 4}, {"i32", 4}, {"i64", 8}, {"i8", 1}, {"u8", 1}}};

}  // namespace

absl::StatusOr<std::int64_t> element_bytes(std::string_view dtype) {
  const auto* type =
      std::ranges::find(kTypes, dtype, [](const auto& known) { return known.first; });
  if (type == kTypes.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dtype: `", std::string(dtype), "` is none of bf16, f16, f32, i32, i64, i8, u8"));
  }
  return type->second;
}

absl::Status validate(const TensorLayout& layout) {
  if (const auto bytes = element_bytes(layout.dtype); !bytes.ok()) {
    return bytes.status();
  }
  if (std::ranges::any_of(layout.shape, [](std::int64_t extent) { return extent < 0; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("shape: negative extent in `", layout.name, "`"));
  }
  std::int64_t end = 0;
  for (const ElementRange& range : layout.live) {
    if (range.begin < end || range.end < range.begin || range.end > num_elements(layout)) {
      return absl::InvalidArgumentError(absl::StrCat("live: [",
                                                     range.begin,
                                                     ", ",
                                                     range.end,
                                                     ") of `",
                                                     layout.name,
                                                     "` is out of order or out of the tensor"));
    }
    end = range.end;
  }
  return absl::OkStatus();
}

std::int64_t num_elements(const TensorLayout& layout) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : layout.shape) {
    elements *= extent;
  }
  return elements;
}

std::int64_t num_live_elements(const TensorLayout& layout) {
  std::int64_t elements = 0;
  for (const ElementRange& range : layout.live) {
    elements += range.end - range.begin;
  }
  return elements;
}

TensorLayout whole_tensor(std::string name, std::string dtype, std::vector<std::int64_t> shape) {
  TensorLayout layout{std::move(name), std::move(dtype), std::move(shape), {}};
  layout.live = {{0, num_elements(layout)}};
  return layout;
}

std::vector<std::int64_t> coordinates(const TensorLayout& layout, std::int64_t element) {
  if (layout.shape.empty()) {
    return {element};
  }
  std::vector<std::int64_t> place(layout.shape.size());
  for (std::size_t axis = layout.shape.size(); axis-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(layout.shape[axis], 1);
    place[axis] = element % extent;
    element /= extent;
  }
  return place;
}

std::string place_of(std::string_view tensor, const std::vector<std::int64_t>& coordinates) {
  return absl::StrCat(std::string(tensor), "[", absl::StrJoin(coordinates, ", "), "]");
}

}  // namespace assay::profiler
