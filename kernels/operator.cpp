#include "kernels/operator.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <charconv>

namespace assay::kernels {
namespace {

std::string valid_values(const AxisInfo& axis) {
  if (axis.choices.empty()) {
    return absl::StrCat("an integer in [", axis.min, ", ", axis.max, "]");
  }
  std::vector<std::string> names(axis.choices.begin(), axis.choices.end());
  return absl::StrCat("one of ", absl::StrJoin(names, ", "));
}

bool is_valid(const AxisInfo& axis, std::string_view value) {
  if (!axis.choices.empty()) {
    return std::ranges::find(axis.choices, value) != axis.choices.end();
  }
  std::int64_t number = 0;
  const char* end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end && number >= axis.min && number <= axis.max;
}

}  // namespace

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kI8:
      return "i8";
    case DType::kU8:
      return "u8";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
  }
  return "";
}

std::int64_t size_bytes(DType dtype) {
  switch (dtype) {
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kI8:
    case DType::kU8:
      return 1;
  }
  return 0;
}

std::int64_t num_elements(const TensorSpec& tensor) {
  std::int64_t product = 1;
  for (const std::int64_t extent : tensor.shape) {
    product *= extent;
  }
  return product;
}

std::int64_t num_bytes(const TensorSpec& tensor) {
  return num_elements(tensor) * size_bytes(tensor.dtype);
}

absl::StatusOr<std::vector<Setting>> complete_settings(std::span<const AxisInfo> axes,
                                                       std::span<const Setting> given) {
  for (const Setting& setting : given) {
    if (std::ranges::find(axes, setting.first, &AxisInfo::name) == axes.end()) {
      std::vector<std::string> names;
      for (const AxisInfo& axis : axes) {
        names.emplace_back(axis.name);
      }
      return absl::NotFoundError(
          absl::StrCat("no axis `", setting.first, "`; valid: ", absl::StrJoin(names, ", ")));
    }
  }
  std::vector<Setting> settings;
  for (const AxisInfo& axis : axes) {
    const auto found = std::ranges::find(given, axis.name, &Setting::first);
    std::string value(found == given.end() ? axis.default_value : std::string_view(found->second));
    if (!is_valid(axis, value)) {
      return absl::InvalidArgumentError(
          absl::StrCat(std::string(axis.name), ": `", value, "` is not ", valid_values(axis)));
    }
    settings.emplace_back(axis.name, std::move(value));
  }
  return settings;
}

}  // namespace assay::kernels
