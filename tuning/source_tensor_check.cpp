#include "proto/status.h"
#include "tuning/content_digest.h"
#include "tuning/source_check.h"
#include "tuning/source_spec.h"
#include "tuning/source_type.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace assay::tuning {
namespace {

constexpr std::array<std::string_view, 7> kDtypes = {
    "bf16", "f16", "f32", "i32", "i64", "i8", "u8"};
constexpr std::array<std::string_view, 5> kRoles = {
    "in_out", "input", "intermediate", "output", "scratch"};
constexpr std::array<std::string_view, 5> kFills = {
    "constant", "file", "index", "normal", "uniform"};

template <typename Names>
absl::Status check_one_of(const std::string& field, const std::string& name, const Names& names) {
  if (std::ranges::find(names, std::string_view(name)) != names.end()) {
    return absl::OkStatus();
  }
  const auto append = [](std::string* out, std::string_view text) {
    absl::StrAppend(out, std::string(text));
  };
  return source_error(
      field, absl::StrCat("`", name, "`: expected one of ", absl::StrJoin(names, ", ", append)));
}

absl::Status check_finite(const std::string& field, double value) {
  return std::isfinite(value) ? absl::OkStatus() : source_error(field, "must be finite");
}

absl::Status check_digest(const std::string& field, const std::string& digest) {
  return is_content_digest(digest) ? absl::OkStatus()
                                   : source_error(field,
                                                  absl::StrCat("`",
                                                               digest,
                                                               "` is not 32 hexadecimal digits, "
                                                               "the digest of uploaded data"));
}

// The figures that a kind does not use must be left out: they would be ignored.
absl::Status check_unused(const std::string& field, const v1::SourceFill& fill) {
  const bool is_value = fill.kind() == "constant" || fill.kind() == "index" ||
                        fill.kind() == "normal" || fill.kind().empty();
  if (!is_value && fill.value() != 0) {
    return source_error(field + ".value", absl::StrCat("is not of kind ", fill.kind()));
  }
  if (fill.kind() != "uniform" && (fill.low() != 0 || fill.high() != 0)) {
    return source_error(field + ".low", "is of kind uniform only");
  }
  if (fill.kind() != "file" && (!fill.file().empty() || !fill.digest().empty())) {
    return source_error(field + ".file", "is of kind file only");
  }
  return absl::OkStatus();
}

// A value of integer tensors is an integer of the type.
absl::Status check_value(const std::string& field, const std::string& dtype, double value) {
  Value typed = value;
  if (!is_float_type(dtype)) {
    if (value != std::trunc(value) || std::fabs(value) > 9e15) {
      return source_error(field, absl::StrCat("must be an integer for ", dtype));
    }
    typed = static_cast<std::int64_t>(value);
  }
  const auto bytes = source_type_value(dtype, typed);
  return bytes.ok() ? absl::OkStatus() : proto::annotate(bytes.status(), field);
}

absl::Status check_bounds(const std::string& field,
                          const std::string& dtype,
                          const v1::SourceFill& fill) {
  ASSAY_RETURN_IF_ERROR(check_finite(field + ".low", fill.low()));
  ASSAY_RETURN_IF_ERROR(check_finite(field + ".high", fill.high()));
  const bool is_default = fill.low() == 0 && fill.high() == 0;
  if (is_default && is_float_type(dtype)) {
    return absl::OkStatus();
  }
  if (fill.low() >= fill.high()) {
    return source_error(
        field + ".high",
        absl::StrCat("must be above low: values are in [", fill.low(), ", ", fill.high(), ")"));
  }
  ASSAY_RETURN_IF_ERROR(check_value(field + ".low", dtype, fill.low()));
  return check_value(field + ".high", dtype, is_float_type(dtype) ? fill.high() : fill.high() - 1);
}

absl::Status check_fill(const std::string& field, const v1::SourceTensor& tensor) {
  const v1::SourceFill& fill = tensor.fill();
  const bool is_filled = tensor.role() == "input" || tensor.role() == "in_out";
  if (!is_filled) {
    return tensor.has_fill()
               ? source_error(field, absl::StrCat("is of input and in_out, not of ", tensor.role()))
               : absl::OkStatus();
  }
  if (!fill.kind().empty()) {
    ASSAY_RETURN_IF_ERROR(check_one_of(field + ".kind", fill.kind(), kFills));
  }
  ASSAY_RETURN_IF_ERROR(check_unused(field, fill));
  ASSAY_RETURN_IF_ERROR(check_finite(field + ".value", fill.value()));
  if (fill.kind() == "file") {
    return check_digest(field + ".digest", fill.digest());
  }
  if (fill.kind() == "constant" || fill.kind() == "index") {
    return check_value(field + ".value", tensor.dtype(), fill.value());
  }
  if (fill.kind() == "uniform") {
    return check_bounds(field, tensor.dtype(), fill);
  }
  if (!is_float_type(tensor.dtype())) {
    return source_error(field + ".kind",
                        absl::StrCat("an input of ",
                                     tensor.dtype(),
                                     " has no normal fill; say uniform with low and high, "
                                     "constant, index or file"));
  }
  return fill.value() >= 0 ? absl::OkStatus()
                           : source_error(field + ".value", "a deviation is not negative");
}

absl::Status check_reference(const std::string& field,
                             const v1::SourceTensor& tensor,
                             const v1::SourceSpec& spec) {
  const v1::SourceReference& reference = tensor.reference();
  if (!tensor.has_reference()) {
    return absl::OkStatus();
  }
  if (tensor.role() != "output" && tensor.role() != "in_out") {
    return source_error(field, absl::StrCat("is of output and in_out, not of ", tensor.role()));
  }
  for (const auto& [name, value] :
       {std::pair("absolute", reference.absolute()), std::pair("relative", reference.relative())}) {
    if (!std::isfinite(value) || value < 0) {
      return source_error(absl::StrCat(field, ".", name), "must be finite and not negative");
    }
  }
  const bool is_file = !reference.digest().empty() || !reference.file().empty();
  if (is_file == !reference.variant().empty()) {
    return source_error(field, "needs either data of a file or a variant");
  }
  if (is_file) {
    if (reference.dtype() != "f32" && reference.dtype() != "f64") {
      return source_error(field + ".dtype",
                          absl::StrCat("`", reference.dtype(), "`: expected f32 or f64"));
    }
    return check_digest(field + ".digest", reference.digest());
  }
  if (!reference.dtype().empty()) {
    return source_error(field + ".dtype", "is of the data of a file only");
  }
  std::vector<std::string> variants;
  for (const v1::SourceVariant& variant : spec.variants()) {
    variants.push_back(variant.name());
  }
  if (std::ranges::find(variants, reference.variant()) == variants.end()) {
    return source_not_found(field + ".variant", reference.variant(), std::move(variants));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_source_tensors(const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_size("source.tensors",
                                   "tensors",
                                   static_cast<std::size_t>(spec.tensors_size()),
                                   std::size_t{kMaxSourceTensors}));
  const std::vector<std::string> axes = axis_names(spec);
  std::set<std::string> seen;
  bool has_output = false;
  for (int i = 0; i < spec.tensors_size(); ++i) {
    const v1::SourceTensor& tensor = spec.tensors(i);
    const std::string field = source_element("source.tensors", i);
    ASSAY_RETURN_IF_ERROR(check_name(field + ".name", tensor.name()));
    if (!seen.insert(tensor.name()).second) {
      return source_error(field + ".name", absl::StrCat("`", tensor.name(), "` stands twice"));
    }
    ASSAY_RETURN_IF_ERROR(check_one_of(field + ".dtype", tensor.dtype(), kDtypes));
    ASSAY_RETURN_IF_ERROR(check_one_of(field + ".role", tensor.role(), kRoles));
    ASSAY_RETURN_IF_ERROR(check_size(field + ".shape",
                                     "dimensions",
                                     static_cast<std::size_t>(tensor.shape_size()),
                                     std::size_t{kMaxSourceDimensions}));
    for (int dimension = 0; dimension < tensor.shape_size(); ++dimension) {
      ASSAY_RETURN_IF_ERROR(
          parse_source(source_element(field + ".shape", dimension), tensor.shape(dimension), axes)
              .status());
    }
    ASSAY_RETURN_IF_ERROR(check_fill(field + ".fill", tensor));
    ASSAY_RETURN_IF_ERROR(check_reference(field + ".reference", tensor, spec));
    has_output = has_output || tensor.role() == "output" || tensor.role() == "in_out";
  }
  return has_output ? absl::OkStatus()
                    : source_error("source.tensors", "must have an output or an in_out");
}

}  // namespace assay::tuning
