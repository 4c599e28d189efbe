#include "tuning/source_space.h"

#include "proto/status.h"
#include "tuning/source_check.h"
#include "tuning/space.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::tuning {
namespace {

// Restrictions whose names are all among `names`, parsed for them.
absl::StatusOr<std::vector<Restriction>> restrictions_of(const v1::SourceSpec& spec,
                                                         const std::vector<std::string>& names) {
  const std::vector<std::string> all = source_names(spec);
  std::vector<Restriction> restrictions;
  for (int i = 0; i < spec.restrictions_size(); ++i) {
    const std::string field = source_element("restrictions", i);
    ASSAY_ASSIGN_OR_RETURN(const Expression whole, parse_source(field, spec.restrictions(i), all));
    const bool is_own = std::ranges::all_of(whole.used(), [&](std::size_t used) {
      return std::ranges::find(names, all[used]) != names.end();
    });
    if (is_own) {
      ASSAY_ASSIGN_OR_RETURN(Expression own, parse_source(field, spec.restrictions(i), names));
      restrictions.push_back({field, std::move(own)});
    }
  }
  return restrictions;
}

}  // namespace

absl::Status check_restrictions(const v1::SourceSpec& spec,
                                const SourceSettings& axes,
                                const v1::Arm& arm) {
  ASSAY_ASSIGN_OR_RETURN(const SourceScope scope, SourceScope::make(spec, axes, arm));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Restriction> restrictions,
                         restrictions_of(spec, scope.names()));
  for (const Restriction& restriction : restrictions) {
    ASSAY_RETURN_IF_ERROR(scope.require(restriction.field, restriction.expression.text()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> variant_restrictions(const v1::SourceSpec& spec,
                                                              const std::string& variant) {
  ASSAY_ASSIGN_OR_RETURN(const v1::SourceVariant* found, source_variant(spec, variant));
  std::vector<std::string> names(found->parameters().begin(), found->parameters().end());
  for (const v1::SourceAxis& axis : spec.axes()) {
    names.push_back(axis.name());
  }
  ASSAY_ASSIGN_OR_RETURN(const std::vector<Restriction> restrictions, restrictions_of(spec, names));
  std::vector<std::string> texts;
  for (const Restriction& restriction : restrictions) {
    texts.push_back(restriction.expression.text());
  }
  return texts;
}

absl::StatusOr<std::vector<std::string>> source_macros(const v1::SourceSpec& spec,
                                                       const v1::Arm& arm) {
  ASSAY_ASSIGN_OR_RETURN(const v1::SourceVariant* variant, source_variant(spec, arm.variant()));
  ASSAY_ASSIGN_OR_RETURN(const auto texts, source_parameters(spec, arm));
  std::vector<std::string> macros(spec.defines().begin(), spec.defines().end());
  macros.insert(macros.end(), variant->defines().begin(), variant->defines().end());
  for (const auto& [name, text] : texts) {
    const Value value = source_value(text);
    const auto* flag = std::get_if<bool>(&value);
    macros.push_back(absl::StrCat(name, "=", flag == nullptr ? text : *flag ? "1" : "0"));
  }
  return macros;
}

}  // namespace assay::tuning
