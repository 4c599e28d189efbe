#include "tuning/source_sizes.h"

#include "proto/status.h"
#include "tuning/source_check.h"
#include "tuning/source_type.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <utility>

namespace assay::tuning {
namespace {

constexpr std::array<std::int64_t, 3> kMaxGrid = {2'147'483'647, 65'535, 65'535};
constexpr std::array<std::int64_t, 3> kMaxBlock = {1'024, 1'024, 64};
constexpr std::int64_t kMaxThreads = 1'024;
constexpr std::array<const char*, 3> kDirections = {"x", "y", "z"};

absl::StatusOr<std::array<std::uint32_t, 3>> three(
    const SourceScope& scope,
    const std::string& field,
    const google::protobuf::RepeatedPtrField<std::string>& texts,
    const std::array<std::int64_t, 3>& max) {
  std::array<std::uint32_t, 3> sizes = {1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    ASSAY_ASSIGN_OR_RETURN(
        const std::int64_t size,
        scope.integer(
            absl::StrCat(field, ".", kDirections[i]), texts[static_cast<int>(i)], 1, max[i]));
    sizes[i] = static_cast<std::uint32_t>(size);
  }
  return sizes;
}

absl::StatusOr<StageSizes> sizes_of(const SourceScope& scope,
                                    const std::string& field,
                                    const v1::SourceStage& stage) {
  StageSizes sizes;
  ASSAY_ASSIGN_OR_RETURN(sizes.grid, three(scope, field + ".grid", stage.grid(), kMaxGrid));
  ASSAY_ASSIGN_OR_RETURN(sizes.block, three(scope, field + ".block", stage.block(), kMaxBlock));
  std::int64_t num_threads = 1;
  for (const std::uint32_t size : sizes.block) {
    num_threads *= size;
  }
  if (num_threads > kMaxThreads) {
    return absl::ResourceExhaustedError(absl::StrCat(field,
                                                     ".block: ",
                                                     absl::StrJoin(sizes.block, " x "),
                                                     " are ",
                                                     num_threads,
                                                     " threads, the limit is ",
                                                     kMaxThreads));
  }
  ASSAY_ASSIGN_OR_RETURN(
      sizes.shared_bytes,
      scope.integer(field + ".shared_bytes", stage.shared_bytes(), 0, kMaxSharedBytes));
  for (int i = 0; i < stage.arguments_size(); ++i) {
    const v1::SourceArgument& argument = stage.arguments(i);
    std::vector<std::byte>& bytes = sizes.scalars.emplace_back();
    if (!argument.tensor().empty()) {
      continue;
    }
    const std::string place = source_element(field + ".arguments", i) + ".value";
    ASSAY_ASSIGN_OR_RETURN(const Value value, scope.evaluate(place, argument.value()));
    auto typed = source_type_value(argument.dtype(), value);
    if (!typed.ok()) {
      return proto::annotate(typed.status(), place);
    }
    bytes = *std::move(typed);
  }
  return sizes;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<std::int64_t>>> source_shapes(const v1::SourceSpec& spec,
                                                                     const SourceSettings& axes) {
  ASSAY_ASSIGN_OR_RETURN(const SourceScope scope, SourceScope::make(spec, axes));
  std::vector<std::vector<std::int64_t>> shapes;
  for (const v1::SourceTensor& tensor : spec.tensors()) {
    std::vector<std::int64_t>& shape = shapes.emplace_back();
    std::int64_t num_elements = 1;
    for (int i = 0; i < tensor.shape_size(); ++i) {
      const std::string field =
          source_element(absl::StrCat("tensor ", tensor.name(), ": shape"), i);
      ASSAY_ASSIGN_OR_RETURN(const std::int64_t extent,
                             scope.integer(field, tensor.shape(i), 0, kMaxSourceElements - 1));
      if (__builtin_mul_overflow(num_elements, extent, &num_elements) ||
          num_elements >= kMaxSourceElements) {
        return absl::ResourceExhaustedError(
            absl::StrCat(field, ": more than ", kMaxSourceElements - 1, " elements, the limit"));
      }
      shape.push_back(extent);
    }
  }
  return shapes;
}

absl::StatusOr<std::vector<StageSizes>> source_stages(const v1::SourceSpec& spec,
                                                      const SourceSettings& axes,
                                                      const v1::Arm& arm) {
  ASSAY_ASSIGN_OR_RETURN(const SourceScope scope, SourceScope::make(spec, axes, arm));
  ASSAY_ASSIGN_OR_RETURN(const v1::SourceVariant* variant, source_variant(spec, arm.variant()));
  std::vector<StageSizes> stages;
  for (const v1::SourceStage& stage : variant->stages()) {
    ASSAY_ASSIGN_OR_RETURN(StageSizes sizes,
                           sizes_of(scope, absl::StrCat("stage ", stage.name()), stage));
    stages.push_back(std::move(sizes));
  }
  return stages;
}

}  // namespace assay::tuning
