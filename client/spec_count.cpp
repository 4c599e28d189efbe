#include "client/spec_count.h"

#include "client/input_file.h"
#include "client/numbers.h"
#include "client/source_file.h"
#include "client/strict_json.h"
#include "client/t1_file.h"
#include "client/t1_source.h"
#include "client/trace_json.h"
#include "proto/status.h"
#include "tuning/source_scope.h"
#include "tuning/source_space.h"
#include "tuning/source_spec.h"
#include "tuning/space.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <utility>

namespace assay::client {
namespace {

using tuning::Removal;
using tuning::SearchSpace;
using tuning::SpaceCount;

struct CountedSpec {
  SearchSpace space;
  std::vector<std::string> warnings;
};

// Its launch parameters, and every axis with its default alone.
absl::StatusOr<SearchSpace> space_of(const v1::SourceSpec& spec, const v1::SourceVariant& variant) {
  std::vector<tuning::TuningParameter> parameters;
  std::vector<std::string> names;
  for (const v1::SourceParameter& parameter : spec.parameters()) {
    if (std::ranges::find(variant.parameters(), parameter.name()) != variant.parameters().end()) {
      names.push_back(parameter.name());
      tuning::TuningParameter& own = parameters.emplace_back();
      own.name = parameter.name();
      for (const std::string& value : parameter.values()) {
        own.values.push_back(tuning::source_value(value));
      }
    }
  }
  for (const v1::SourceAxis& axis : spec.axes()) {
    names.push_back(axis.name());
    parameters.push_back({.name = axis.name(), .values = {axis.default_value()}});
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                         tuning::variant_restrictions(spec, variant.name()));
  std::vector<tuning::Restriction> restrictions;
  for (const std::string& text : texts) {
    ASSAY_ASSIGN_OR_RETURN(tuning::Expression expression, tuning::Expression::parse(text, names));
    restrictions.push_back({absl::StrCat("restriction `", text, "`"), std::move(expression)});
  }
  return SearchSpace::make(std::move(parameters), std::move(restrictions));
}

absl::StatusOr<CountedSpec> read_own(const std::string& path, const std::string& variant) {
  const absl::StatusOr<SourceBundle> bundle = read_source_file(path);
  if (!bundle.ok()) {
    return proto::annotate(bundle.status(), "--spec");
  }
  const v1::SourceSpec spec = tuning::complete_source(bundle->spec);
  const auto found =
      tuning::source_variant(spec, variant.empty() ? spec.variants(0).name() : variant);
  if (!found.ok()) {
    return absl::NotFoundError(absl::StrCat("--", std::string(found.status().message())));
  }
  absl::StatusOr<SearchSpace> space = space_of(spec, **found);
  return space.ok() ? absl::StatusOr<CountedSpec>({*std::move(space), bundle->warnings})
                    : proto::annotate(space.status(), "--spec: " + path);
}

absl::StatusOr<CountedSpec> read_spec(const std::string& path, const std::string& variant) {
  absl::StatusOr<std::string> text = read_file(path, kMaxSpecFileBytes);
  if (absl::IsResourceExhausted(text.status())) {
    text = absl::InvalidArgumentError("larger than 16 MiB");
  }
  const auto root = text.ok() ? parse_strict_json(*text) : text.status();
  if (root.ok() && root->is_object() && !is_t1(*root)) {
    return read_own(path, variant);
  }
  absl::StatusOr<T1File> file = text.ok() ? parse_t1(*text) : text.status();
  if (!file.ok()) {
    return proto::annotate(file.status(), "--spec: " + path);
  }
  return CountedSpec{std::move(file->space), std::move(file->warnings)};
}

const std::string& expression_of(const SearchSpace& space, const Removal& removal) {
  return space.restrictions()[removal.restriction].expression.text();
}

std::string people_text(const std::string& path,
                        const SearchSpace& space,
                        const SpaceCount& count,
                        Format format) {
  std::string text = absl::StrCat(one_line(path),
                                  ": ",
                                  with_commas(count.num_valid),
                                  " of ",
                                  counted(count.num_combinations, "configuration"),
                                  count.num_valid == 1 ? " is valid\n" : " are valid\n");
  if (count.removals.empty()) {
    return text;
  }
  Table table{{{"restriction"}, {"removes", Align::kRight}, {"leaves", Align::kRight}}, {}};
  for (const Removal& removal : count.removals) {
    table.rows.push_back({expression_of(space, removal),
                          with_commas(removal.num_removed),
                          with_commas(removal.num_left)});
  }
  return absl::StrCat(text, "\n", table_text(table, format));
}

std::string csv_count_text(const SearchSpace& space, const SpaceCount& count) {
  Table table{{{"step"}, {"expression"}, {"num_removed"}, {"num_left"}}, {}};
  table.rows.push_back({"combinations", "", "0", absl::StrCat(count.num_combinations)});
  for (const Removal& removal : count.removals) {
    table.rows.push_back({"restriction",
                          expression_of(space, removal),
                          absl::StrCat(removal.num_removed),
                          absl::StrCat(removal.num_left)});
  }
  table.rows.push_back({"valid", "", "0", absl::StrCat(count.num_valid)});
  return csv_text(table);
}

std::string json_count_text(const CountedSpec& spec, const SpaceCount& count) {
  std::vector<std::string> restrictions;
  for (const Removal& removal : count.removals) {
    restrictions.push_back(JsonMembers()
                               .add("expression", expression_of(spec.space, removal))
                               .add_integer64("num_removed", removal.num_removed)
                               .add_integer64("num_left", removal.num_left)
                               .text());
  }
  std::vector<std::string> warnings;
  for (const std::string& warning : spec.warnings) {
    warnings.push_back(JsonMembers().add("message", warning).text());
  }
  const auto list = [](const std::vector<std::string>& objects) {
    return objects.empty() ? std::string("[]")
                           : absl::StrCat("[\n  {", absl::StrJoin(objects, "},\n  {"), "}\n ]");
  };
  return absl::StrCat("{",
                      JsonMembers()
                          .add_integer64("num_valid", count.num_valid)
                          .add_integer64("num_combinations", count.num_combinations)
                          .text(),
                      ",\n \"restrictions\":",
                      list(restrictions),
                      ",\n \"warnings\":",
                      list(warnings),
                      "}\n");
}

std::string count_text(const std::string& path,
                       const CountedSpec& spec,
                       const SpaceCount& count,
                       Format format) {
  switch (format) {
    case Format::kJson:
      return json_count_text(spec, count);
    case Format::kCsv:
      return csv_count_text(spec.space, count);
    case Format::kTable:
    case Format::kMarkdown:
      break;
  }
  return people_text(path, spec.space, count, format);
}

}  // namespace

absl::StatusOr<SpecCount> count_spec(const std::string& path,
                                     const std::string& variant,
                                     Format format) {
  ASSAY_ASSIGN_OR_RETURN(CountedSpec spec, read_spec(path, variant));
  const absl::StatusOr<SpaceCount> count = spec.space.count();
  if (!count.ok()) {
    return proto::annotate(count.status(), "--spec: " + path);
  }
  return SpecCount{count_text(path, spec, *count, format), std::move(spec.warnings)};
}

}  // namespace assay::client
