#include "tuning/source_spec.h"

#include "proto/status.h"
#include "tuning/content_digest.h"
#include "tuning/source_check.h"
#include "tuning/token.h"

#include "absl/strings/str_cat.h"

#include <set>
#include <utility>

namespace assay::tuning {
namespace {

constexpr std::size_t kMaxSummaryBytes = 1'000;

// How an expression is written does not make another operator.
std::string without_blanks(const std::string& text) {
  const auto tokens = tokens_of(text);
  std::string plain;
  if (tokens.ok()) {
    for (const Token& token : *tokens) {
      absl::StrAppend(&plain, std::string(token.text), " ");
    }
  }
  return tokens.ok() ? plain : text;
}

// Length first, so that no two texts run together.
void append_text(std::string& contract, const std::string& text) {
  absl::StrAppend(&contract, text.size(), ":", text, ";");
}

void append_number(std::string& contract, double number) {
  append_text(contract, absl::StrCat(number));
}

void append_tensor(std::string& contract, const v1::SourceTensor& tensor) {
  append_text(contract, tensor.name());
  append_text(contract, tensor.dtype());
  append_text(contract, tensor.role());
  append_number(contract, tensor.shape_size());
  for (const std::string& extent : tensor.shape()) {
    append_text(contract, without_blanks(extent));
  }
  const v1::SourceFill& fill = tensor.fill();
  append_text(contract, fill.kind());
  append_number(contract, fill.value());
  append_number(contract, fill.low());
  append_number(contract, fill.high());
  append_text(contract, fill.digest());
  const v1::SourceReference& reference = tensor.reference();
  append_number(contract, reference.absolute());
  append_number(contract, reference.relative());
  append_text(contract, reference.digest());
  append_text(contract, reference.dtype());
  append_text(contract, reference.variant());
}

bool is_of_parameters(const std::string& text, const v1::SourceSpec& spec) {
  return !Expression::parse(text, axis_names(spec)).ok();
}

void complete_fill(v1::SourceTensor& tensor) {
  if (tensor.role() != "input" && tensor.role() != "in_out") {
    return;
  }
  v1::SourceFill& fill = *tensor.mutable_fill();
  if (fill.kind().empty()) {
    fill.set_kind("normal");
  }
  if (fill.kind() == "normal" && fill.value() == 0) {
    fill.set_value(1);
  }
  if (fill.kind() == "uniform" && fill.low() == 0 && fill.high() == 0) {
    fill.set_high(1);
  }
}

void complete_stage(v1::SourceStage& stage, const v1::SourceVariant& variant) {
  if (stage.file().empty()) {
    stage.set_file(variant.file());
  }
  for (auto* sizes : {stage.mutable_grid(), stage.mutable_block()}) {
    while (sizes->size() < 3) {
      sizes->Add("1");
    }
  }
  if (stage.shared_bytes().empty()) {
    stage.set_shared_bytes(std::string("0"));
  }
}

void complete_variant(v1::SourceVariant& variant, const v1::SourceSpec& spec) {
  if (variant.family().empty()) {
    variant.set_family("baseline");
  }
  if (variant.file().empty()) {
    variant.set_file(spec.files(0).name());
  }
  if (variant.stages().empty()) {
    *variant.mutable_stages() = spec.stages();
  }
  for (v1::SourceStage& stage : *variant.mutable_stages()) {
    complete_stage(stage, variant);
  }
  if (variant.parameters().empty() && !variant.has_no_parameters()) {
    for (const v1::SourceParameter& parameter : spec.parameters()) {
      variant.add_parameters(parameter.name());
    }
  }
  variant.set_has_no_parameters(variant.parameters().empty());
}

v1::AxisInfo describe_axis(const v1::SourceAxis& axis) {
  v1::AxisInfo info;
  info.set_name(axis.name());
  info.set_help(axis.help());
  info.set_default_value(absl::StrCat(axis.default_value()));
  info.set_min(axis.min());
  info.set_max(axis.max());
  return info;
}

v1::AxisInfo describe_parameter(const v1::SourceParameter& parameter) {
  v1::AxisInfo info;
  info.set_name(parameter.name());
  info.set_default_value(parameter.default_value());
  *info.mutable_choices() = parameter.values();
  return info;
}

void describe_variant(v1::VariantInfo& info,
                      const v1::SourceVariant& variant,
                      const v1::SourceSpec& spec) {
  info.set_name(variant.name());
  info.set_idea(variant.idea());
  info.set_family(variant.family());
  const std::set<std::string> has(variant.parameters().begin(), variant.parameters().end());
  for (const v1::SourceParameter& parameter : spec.parameters()) {
    if (has.contains(parameter.name())) {
      *info.add_parameters() = describe_parameter(parameter);
    }
  }
  for (const v1::SourceStage& stage : variant.stages()) {
    info.add_stages(stage.name());
  }
}

}  // namespace

absl::Status validate_source(const v1::SourceSpec& spec) {
  ASSAY_RETURN_IF_ERROR(check_name("source.name", spec.name()));
  ASSAY_RETURN_IF_ERROR(
      check_size("source.summary", "bytes", spec.summary().size(), kMaxSummaryBytes));
  ASSAY_RETURN_IF_ERROR(check_source_files(spec));
  ASSAY_RETURN_IF_ERROR(check_source_space(spec));
  ASSAY_RETURN_IF_ERROR(check_source_tensors(spec));
  return check_source_variants(spec);
}

v1::SourceSpec complete_source(v1::SourceSpec spec) {
  for (v1::SourceParameter& parameter : *spec.mutable_parameters()) {
    if (parameter.default_value().empty() && !parameter.values().empty()) {
      parameter.set_default_value(parameter.values(0));
    }
  }
  for (v1::SourceTensor& tensor : *spec.mutable_tensors()) {
    complete_fill(tensor);
  }
  if (spec.variants().empty()) {
    spec.add_variants()->set_name("source");
  }
  for (v1::SourceVariant& variant : *spec.mutable_variants()) {
    complete_variant(variant, spec);
  }
  return spec;
}

std::string source_operator_name(const v1::SourceSpec& spec) {
  std::string contract;
  append_number(contract, spec.axes_size());
  for (const std::string& axis : axis_names(spec)) {
    append_text(contract, axis);
  }
  append_number(contract, spec.tensors_size());
  for (v1::SourceTensor tensor : spec.tensors()) {
    complete_fill(tensor);
    append_tensor(contract, tensor);
  }
  // As a set: one kernel more that takes the same scalars computes the same.
  std::set<std::string> scalars;
  for (const v1::SourceStage& stage : spec.stages()) {
    for (const v1::SourceArgument& argument : stage.arguments()) {
      if (argument.tensor().empty() && !is_of_parameters(argument.value(), spec)) {
        scalars.insert(without_blanks(argument.value()));
      }
    }
  }
  for (const std::string& scalar : scalars) {
    append_text(contract, scalar);
  }
  return absl::StrCat(spec.name(), "@", content_digest(contract).substr(0, 8));
}

absl::StatusOr<v1::OperatorInfo> describe_source(const v1::SourceSpec& spec,
                                                 std::string_view architecture) {
  ASSAY_RETURN_IF_ERROR(validate_source(spec));
  const v1::SourceSpec complete = complete_source(spec);
  v1::OperatorInfo info;
  info.set_name(source_operator_name(spec));
  info.set_summary(spec.summary());
  for (const v1::SourceAxis& axis : complete.axes()) {
    *info.add_axes() = describe_axis(axis);
  }
  for (const v1::SourceVariant& variant : complete.variants()) {
    v1::VariantInfo& described = *info.add_variants();
    describe_variant(described, variant, complete);
    described.set_bits_domain(std::string(architecture));
  }
  info.set_bits_domain(std::string(architecture));
  return info;
}

}  // namespace assay::tuning
