#include "proto/status.h"
#include "tuning/source_check.h"
#include "tuning/source_spec.h"
#include "tuning/source_type.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>

namespace assay::tuning {
namespace {

using Names = std::vector<std::string>;
using Stages = google::protobuf::RepeatedPtrField<v1::SourceStage>;

bool is_in(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

template <typename Items>
Names names_of(const Items& items) {
  Names names;
  for (const auto& item : items) {
    names.push_back(item.name());
  }
  return names;
}

// One variant: what it names must be there, and its expressions use what it has.
class VariantCheck {
 public:
  VariantCheck(const v1::SourceSpec& spec, const v1::SourceVariant& variant, std::string field)
      : spec_(spec),
        variant_(variant),
        field_(std::move(field)),
        names_(source_names(spec)),
        files_(names_of(spec.files())),
        tensors_(names_of(spec.tensors())) {}

  absl::Status check() {
    if (!variant_.family().empty()) {
      ASSAY_RETURN_IF_ERROR(check_name(field_ + ".family", variant_.family()));
    }
    ASSAY_RETURN_IF_ERROR(check_file(field_ + ".file", variant_.file()));
    ASSAY_RETURN_IF_ERROR(check_defines(field_ + ".defines", variant_.defines(), spec_));
    ASSAY_RETURN_IF_ERROR(check_options(field_ + ".options", variant_.options()));
    ASSAY_RETURN_IF_ERROR(check_parameters());
    const bool is_common = variant_.stages().empty();
    ASSAY_RETURN_IF_ERROR(is_common ? check_stages("source.stages", spec_.stages())
                                    : check_stages(field_ + ".stages", variant_.stages()));
    return check_outputs();
  }

 private:
  absl::Status check_file(const std::string& field, const std::string& name) const {
    if (name.empty() || is_in(files_, name)) {
      return absl::OkStatus();
    }
    return source_not_found(field, name, files_);
  }

  absl::Status check_parameters() {
    const Names all = names_of(spec_.parameters());
    if (variant_.has_no_parameters() && !variant_.parameters().empty()) {
      return source_error(field_ + ".has_no_parameters", "but it lists some");
    }
    std::set<std::string> seen;
    for (int i = 0; i < variant_.parameters_size(); ++i) {
      const std::string place = source_element(field_ + ".parameters", i);
      if (!is_in(all, variant_.parameters(i))) {
        return source_not_found(place, variant_.parameters(i), all);
      }
      if (!seen.insert(variant_.parameters(i)).second) {
        return source_error(place, absl::StrCat("`", variant_.parameters(i), "` stands twice"));
      }
    }
    parameters_ = {variant_.parameters().begin(), variant_.parameters().end()};
    if (parameters_.empty() && !variant_.has_no_parameters()) {
      parameters_ = all;
    }
    return absl::OkStatus();
  }

  absl::Status check_stages(const std::string& field, const Stages& stages) {
    if (stages.empty()) {
      return source_error(
          field, absl::StrCat("the variant `", variant_.name(), "` needs at least one stage"));
    }
    ASSAY_RETURN_IF_ERROR(check_size(
        field, "stages", static_cast<std::size_t>(stages.size()), std::size_t{kMaxSourceStages}));
    // They are figures of every call beside those of its stages.
    std::set<std::string> seen = {"total", "span"};
    for (int i = 0; i < stages.size(); ++i) {
      const std::string place = source_element(field, i);
      ASSAY_RETURN_IF_ERROR(check_name(place + ".name", stages[i].name()));
      if (!seen.insert(stages[i].name()).second) {
        return source_error(place + ".name",
                            absl::StrCat("`", stages[i].name(), "` stands twice, or is kept"));
      }
      ASSAY_RETURN_IF_ERROR(check_stage(place, stages[i]));
    }
    return absl::OkStatus();
  }

  absl::Status check_stage(const std::string& field, const v1::SourceStage& stage) {
    ASSAY_RETURN_IF_ERROR(check_line(field + ".kernel", stage.kernel()));
    ASSAY_RETURN_IF_ERROR(check_file(field + ".file", stage.file()));
    ASSAY_RETURN_IF_ERROR(check_size(field + ".arguments",
                                     "arguments",
                                     static_cast<std::size_t>(stage.arguments_size()),
                                     std::size_t{kMaxSourceArguments}));
    for (int i = 0; i < stage.arguments_size(); ++i) {
      ASSAY_RETURN_IF_ERROR(
          check_argument(source_element(field + ".arguments", i), stage.arguments(i)));
    }
    ASSAY_RETURN_IF_ERROR(check_sizes(field + ".grid", stage.grid()));
    ASSAY_RETURN_IF_ERROR(check_sizes(field + ".block", stage.block()));
    return stage.shared_bytes().empty()
               ? absl::OkStatus()
               : check_expression(field + ".shared_bytes", stage.shared_bytes());
  }

  absl::Status check_argument(const std::string& field, const v1::SourceArgument& argument) {
    const bool is_scalar = !argument.dtype().empty() || !argument.value().empty();
    if (is_scalar == !argument.tensor().empty()) {
      return source_error(field, "needs either a tensor, or a dtype and a value");
    }
    if (!is_scalar) {
      passed_.insert(argument.tensor());
      return is_in(tensors_, argument.tensor())
                 ? absl::OkStatus()
                 : source_not_found(field + ".tensor", argument.tensor(), tensors_);
    }
    if (source_type_bytes(argument.dtype()) == 0) {
      return source_error(
          field + ".dtype",
          absl::StrCat(
              "`", argument.dtype(), "`: expected one of bf16, f16, f32, f64, i32, i64, i8, u8"));
    }
    return check_expression(field + ".value", argument.value());
  }

  absl::Status check_sizes(const std::string& field,
                           const google::protobuf::RepeatedPtrField<std::string>& sizes) const {
    if (sizes.empty() || sizes.size() > 3) {
      return source_error(field, "needs one to three expressions: x, y, z");
    }
    for (int i = 0; i < sizes.size(); ++i) {
      ASSAY_RETURN_IF_ERROR(check_expression(source_element(field, i), sizes[i]));
    }
    return absl::OkStatus();
  }

  absl::Status check_expression(const std::string& field, const std::string& text) const {
    ASSAY_ASSIGN_OR_RETURN(const Expression expression, parse_source(field, text, names_));
    const auto num_axes = static_cast<std::size_t>(spec_.axes_size());
    for (const std::size_t used : expression.used()) {
      if (used >= num_axes && !is_in(parameters_, names_[used])) {
        return source_error(
            field,
            absl::StrCat(
                "uses `", names_[used], "`, which the variant `", variant_.name(), "` has not"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status check_outputs() const {
    for (const v1::SourceTensor& tensor : spec_.tensors()) {
      const bool is_output = tensor.role() == "output" || tensor.role() == "in_out";
      if (is_output && !passed_.contains(tensor.name())) {
        return source_error(field_,
                            absl::StrCat("passes the output `", tensor.name(), "` to no stage"));
      }
    }
    return absl::OkStatus();
  }

  const v1::SourceSpec& spec_;
  const v1::SourceVariant& variant_;
  const std::string field_;
  const Names names_;
  const Names files_;
  const Names tensors_;
  Names parameters_;
  std::set<std::string> passed_;
};

}  // namespace

absl::Status check_source_variants(const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_size("source.variants",
                                   "variants",
                                   static_cast<std::size_t>(spec.variants_size()),
                                   std::size_t{kMaxSourceVariants}));
  ASSAY_RETURN_IF_ERROR(check_defines("source.defines", spec.defines(), spec));
  ASSAY_RETURN_IF_ERROR(check_options("source.options", spec.options()));
  if (spec.variants().empty()) {
    v1::SourceVariant only;
    only.set_name("source");
    return VariantCheck(spec, only, "source").check();
  }
  std::set<std::string> seen;
  for (int i = 0; i < spec.variants_size(); ++i) {
    const v1::SourceVariant& variant = spec.variants(i);
    const std::string field = source_element("source.variants", i);
    ASSAY_RETURN_IF_ERROR(check_name(field + ".name", variant.name()));
    if (!seen.insert(variant.name()).second) {
      return source_error(field + ".name", absl::StrCat("`", variant.name(), "` stands twice"));
    }
    if (i == 0 && !variant.family().empty() && variant.family() != "baseline") {
      return source_error(field + ".family", "the first variant is of the family baseline");
    }
    ASSAY_RETURN_IF_ERROR(VariantCheck(spec, variant, field).check());
  }
  return absl::OkStatus();
}

}  // namespace assay::tuning
