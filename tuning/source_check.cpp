#include "tuning/source_check.h"

#include "proto/status.h"
#include "proto/text.h"
#include "tuning/source_scope.h"
#include "tuning/source_spec.h"
#include "tuning/token.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <set>

namespace assay::tuning {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxPathBytes = 200;

// A name that sources include: relative, no way out of its folder, no second spelling.
absl::Status check_file_name(const std::string& field, const std::string& name) {
  ASSAY_RETURN_IF_ERROR(check_line(field, name));
  ASSAY_RETURN_IF_ERROR(check_size(field, "bytes of a name", name.size(), kMaxPathBytes));
  if (name.find('\\') != std::string::npos || name.find('"') != std::string::npos) {
    return source_error(field, absl::StrCat("`", name, "` has a character no name may have"));
  }
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return source_error(field,
                          absl::StrCat("`",
                                       name,
                                       "` must be relative to the specification's folder, without "
                                       "`.` and `..`"));
    }
  }
  return absl::OkStatus();
}

absl::Status check_axes(const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_size("source.axes",
                                   "axes",
                                   static_cast<std::size_t>(spec.axes_size()),
                                   std::size_t{kMaxSourceNames}));
  std::set<std::string> seen;
  for (int i = 0; i < spec.axes_size(); ++i) {
    const v1::SourceAxis& axis = spec.axes(i);
    const std::string field = source_element("source.axes", i);
    ASSAY_RETURN_IF_ERROR(check_name(field + ".name", axis.name()));
    if (!seen.insert(axis.name()).second) {
      return source_error(field + ".name", absl::StrCat("`", axis.name(), "` stands twice"));
    }
    if (axis.min() > axis.max()) {
      return source_error(field + ".min", absl::StrCat(axis.min(), " is above max ", axis.max()));
    }
    if (axis.default_value() < axis.min() || axis.default_value() > axis.max()) {
      return source_error(
          field + ".default_value",
          absl::StrCat(axis.default_value(), " is not in [", axis.min(), ", ", axis.max(), "]"));
    }
  }
  return absl::OkStatus();
}

absl::Status check_values(const std::string& field, const v1::SourceParameter& parameter) {
  if (parameter.values().empty()) {
    return source_error(field + ".values", "must have at least one value");
  }
  ASSAY_RETURN_IF_ERROR(check_size(field + ".values",
                                   "values",
                                   static_cast<std::size_t>(parameter.values_size()),
                                   std::size_t{kMaxSourceValues}));
  std::set<std::string> seen;
  for (int i = 0; i < parameter.values_size(); ++i) {
    const std::string place = source_element(field + ".values", i);
    ASSAY_RETURN_IF_ERROR(check_line(place, parameter.values(i)));
    if (parameter.values(i).find(',') != std::string::npos) {
      return source_error(place, "has a `,`, which stands between values");
    }
    // 1, 1.0 and true would be one configuration under three names.
    if (!seen.insert(equality_key(source_value(parameter.values(i)))).second) {
      return source_error(place, absl::StrCat("`", parameter.values(i), "` stands twice"));
    }
  }
  if (!parameter.default_value().empty() &&
      std::ranges::find(parameter.values(), parameter.default_value()) ==
          parameter.values().end()) {
    return source_error(field + ".default_value",
                        absl::StrCat("`", parameter.default_value(), "` is not among the values"));
  }
  return absl::OkStatus();
}

absl::Status check_parameters(const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_size("source.parameters",
                                   "parameters",
                                   static_cast<std::size_t>(spec.parameters_size()),
                                   std::size_t{kMaxSourceNames}));
  const std::vector<std::string> axes = axis_names(spec);
  std::set<std::string> seen(axes.begin(), axes.end());
  for (int i = 0; i < spec.parameters_size(); ++i) {
    const v1::SourceParameter& parameter = spec.parameters(i);
    const std::string field = source_element("source.parameters", i);
    ASSAY_RETURN_IF_ERROR(check_name(field + ".name", parameter.name()));
    if (!seen.insert(parameter.name()).second) {
      return source_error(field + ".name",
                          absl::StrCat("`", parameter.name(), "` stands twice, or is an axis"));
    }
    ASSAY_RETURN_IF_ERROR(check_values(field, parameter));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> axis_names(const v1::SourceSpec& spec) {
  std::vector<std::string> names;
  for (const v1::SourceAxis& axis : spec.axes()) {
    names.push_back(axis.name());
  }
  return names;
}

std::vector<std::string> source_names(const v1::SourceSpec& spec) {
  std::vector<std::string> names = axis_names(spec);
  for (const v1::SourceParameter& parameter : spec.parameters()) {
    names.push_back(parameter.name());
  }
  return names;
}

absl::Status source_error(const std::string& field, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", std::string(what)));
}

absl::Status source_not_found(const std::string& field,
                              std::string_view name,
                              std::vector<std::string> valid) {
  std::ranges::sort(valid);
  return absl::NotFoundError(absl::StrCat(field,
                                          ": no `",
                                          std::string(name),
                                          "`; there is ",
                                          valid.empty() ? "none" : absl::StrJoin(valid, ", ")));
}

std::string source_element(const std::string& field, int index) {
  return absl::StrCat(field, "[", index, "]");
}

absl::Status check_size(const std::string& field,
                        std::string_view of_what,
                        std::size_t size,
                        std::size_t limit) {
  if (size <= limit) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(field,
                   ": ",
                   proto::with_commas(static_cast<std::int64_t>(size)),
                   " ",
                   std::string(of_what),
                   ", the limit is ",
                   proto::with_commas(static_cast<std::int64_t>(limit))));
}

absl::Status check_name(const std::string& field, const std::string& name) {
  if (!is_expression_name(name)) {
    return source_error(field,
                        absl::StrCat("`",
                                     name,
                                     "` must be letters, digits and _, not first a digit, and no "
                                     "word of expressions"));
  }
  return check_size(field, "bytes of a name", name.size(), kMaxNameBytes);
}

absl::Status check_line(const std::string& field, const std::string& text) {
  if (text.empty()) {
    return source_error(field, "is empty");
  }
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, is_control)) {
    return source_error(field, "has a line break or another control character");
  }
  return check_size(field, "bytes", text.size(), kMaxSourceTextBytes);
}

absl::Status check_defines(const std::string& field,
                           const google::protobuf::RepeatedPtrField<std::string>& defines,
                           const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_size(
      field, "defines", static_cast<std::size_t>(defines.size()), std::size_t{kMaxSourceTexts}));
  for (int i = 0; i < defines.size(); ++i) {
    const std::string place = source_element(field, i);
    ASSAY_RETURN_IF_ERROR(check_line(place, defines[i]));
    const std::string name = defines[i].substr(0, defines[i].find('='));
    ASSAY_RETURN_IF_ERROR(check_name(place, name));
    for (const v1::SourceParameter& parameter : spec.parameters()) {
      if (parameter.name() == name) {
        return source_error(
            place, absl::StrCat("`", name, "` is a launch parameter, whose value is its macro"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status check_options(const std::string& field,
                           const google::protobuf::RepeatedPtrField<std::string>& options) {
  ASSAY_RETURN_IF_ERROR(check_size(
      field, "options", static_cast<std::size_t>(options.size()), std::size_t{kMaxSourceTexts}));
  for (int i = 0; i < options.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(check_line(source_element(field, i), options[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<Expression> parse_source(const std::string& field,
                                        const std::string& text,
                                        const std::vector<std::string>& names) {
  absl::StatusOr<Expression> expression = Expression::parse(text, names);
  return expression.ok() ? std::move(expression) : proto::annotate(expression.status(), field);
}

absl::Status check_source_files(const v1::SourceSpec& spec) {
  if (spec.files().empty()) {
    return source_error("source.files", "must have at least one");
  }
  ASSAY_RETURN_IF_ERROR(check_size("source.files",
                                   "files",
                                   static_cast<std::size_t>(spec.files_size()),
                                   std::size_t{kMaxSourceFiles}));
  std::set<std::string> seen;
  std::size_t num_bytes = 0;
  for (int i = 0; i < spec.files_size(); ++i) {
    const v1::SourceFile& file = spec.files(i);
    const std::string field = source_element("source.files", i);
    ASSAY_RETURN_IF_ERROR(check_file_name(field + ".name", file.name()));
    if (!seen.insert(file.name()).second) {
      return source_error(field + ".name", absl::StrCat("`", file.name(), "` stands twice"));
    }
    ASSAY_RETURN_IF_ERROR(
        check_size(field + ".text", "bytes", file.text().size(), kMaxSourceFileBytes));
    if (file.text().find('\0') != std::string::npos) {
      return source_error(field + ".text", "has a byte of value 0");
    }
    num_bytes += file.text().size();
  }
  return check_size("source.files", "bytes in all", num_bytes, kMaxSourceBytes);
}

absl::Status check_source_space(const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_axes(spec));
  ASSAY_RETURN_IF_ERROR(check_parameters(spec));
  ASSAY_RETURN_IF_ERROR(check_size("source.restrictions",
                                   "restrictions",
                                   static_cast<std::size_t>(spec.restrictions_size()),
                                   std::size_t{kMaxSourceTexts}));
  const std::vector<std::string> names = source_names(spec);
  for (int i = 0; i < spec.restrictions_size(); ++i) {
    const std::string field = source_element("source.restrictions", i);
    ASSAY_RETURN_IF_ERROR(parse_source(field, spec.restrictions(i), names).status());
  }
  return absl::OkStatus();
}

}  // namespace assay::tuning
