#include "profiler/module_problem.h"

#include "kernels/inputs.h"
#include "profiler/generated_input.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace assay::profiler {
namespace {

using kernels::DType;
using kernels::Role;

// Nothing near it fits into a device, and products of it do not overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

constexpr std::array kDTypes = {
    DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kU8, DType::kI32, DType::kI64};
constexpr std::array kRoles = {Role::kInput, Role::kOutput, Role::kIntermediate, Role::kScratch};

// A value of an axis that was checked before.
std::int64_t value_of(const assay_axis& axis, const std::string& text) {
  std::int64_t value = 0;
  if (axis.choices == nullptr) {
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  while (text != axis.choices[value]) {
    ++value;
  }
  return value;
}

absl::Status check_extents(std::span<const std::int64_t> extents, const std::string& path) {
  std::int64_t num_elements = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || (extent > 0 && num_elements > kMostElements / extent)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": extent ", extent, " is negative or makes it too large"));
    }
    num_elements *= extent;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ModuleProblem>> ModuleProblem::make(
    const ModuleOperator& op, const std::string& name, const kernels::Workload& workload) {
  std::unique_ptr<ModuleProblem> problem(new ModuleProblem(op));
  for (std::size_t place = 0; place < op.axes.size(); ++place) {
    problem->values_.push_back(value_of(op.axes[place], workload.axes[place].second));
  }
  problem->workload_ = {.size = sizeof(assay_workload),
                        .values = problem->values_.data(),
                        .num_values = problem->values_.size(),
                        .seed = workload.seed};
  if (op.row.validate != nullptr) {
    ASSAY_RETURN_IF_ERROR(
        call_module("workload", absl::StatusCode::kInvalidArgument, [&](assay_error* error) {
          return op.row.validate(&problem->workload_, error);
        }));
  }
  ASSAY_RETURN_IF_ERROR(problem->add_tensors(name, workload));
  return problem;
}

absl::Status ModuleProblem::add_tensors(const std::string& name,
                                        const kernels::Workload& workload) {
  std::string content = absl::StrCat(name, "/", workload.seed);
  for (const auto& [axis, value] : workload.axes) {
    absl::StrAppend(&content, "/", value);
  }
  for (const assay_tensor& tensor : op_.tensors) {
    std::array<std::int64_t, ASSAY_MAX_RANK> extents = {};
    std::size_t rank = 0;
    const std::string path = absl::StrCat("shape of `", tensor.name, "`");
    ASSAY_RETURN_IF_ERROR(
        call_module(path, absl::StatusCode::kInvalidArgument, [&](assay_error* error) {
          return tensor.shape(&workload_, extents.data(), &rank, error);
        }));
    if (rank > extents.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": rank ", rank, " is over ", extents.size()));
    }
    ASSAY_RETURN_IF_ERROR(check_extents(std::span(extents).first(rank), path));
    tensors_.push_back(
        {.name = tensor.name,
         .dtype = kDTypes.at(static_cast<std::size_t>(tensor.dtype)),
         .role = kRoles.at(static_cast<std::size_t>(tensor.role)),
         .shape = {extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(rank)},
         .content_key = tensor.role == ASSAY_INPUT ? absl::StrCat(content, "/", tensor.name) : ""});
  }
  return absl::OkStatus();
}

void ModuleProblem::fill_input(std::size_t tensor, std::byte* bytes) const {
  const assay_tensor& row = op_.tensors[tensor];
  const auto num_bytes = static_cast<std::size_t>(kernels::num_bytes(tensors_[tensor]));
  if (row.fill == ASSAY_FILL_CALLBACK) {
    row.fill_bytes(&workload_, bytes, num_bytes);
    return;
  }
  generate_input(kernels::make_key(workload_.seed, row.name),
                 tensors_[tensor].dtype,
                 row.fill == ASSAY_FILL_NORMAL ? Generator::kNormal : Generator::kUniform,
                 {bytes, num_bytes});
}

std::vector<kernels::ElementRange> ModuleProblem::live(std::size_t tensor) const {
  const assay_tensor& row = op_.tensors[tensor];
  if (row.live == nullptr) {
    return {{.begin = 0, .end = kernels::num_elements(tensors_[tensor])}};
  }
  std::vector<assay_range> ranges(row.live(&workload_, nullptr, 0));
  ranges.resize(std::min(ranges.size(), row.live(&workload_, ranges.data(), ranges.size())));
  std::vector<kernels::ElementRange> live;
  live.reserve(ranges.size());
  for (const assay_range& range : ranges) {
    live.push_back({.begin = range.begin, .end = range.end});
  }
  return live;
}

// Nothing where the module knows none.
kernels::Reference ModuleProblem::reference(std::size_t tensor) const {
  kernels::Reference reference;
  if (op_.tensors[tensor].reference == nullptr) {
    return reference;
  }
  std::vector<std::vector<std::byte>> inputs(tensors_.size());
  std::vector<const void*> pointers(tensors_.size());
  for (std::size_t place = 0; place < tensors_.size(); ++place) {
    if (tensors_[place].role == Role::kInput) {
      inputs[place].resize(static_cast<std::size_t>(kernels::num_bytes(tensors_[place])));
      fill_input(place, inputs[place].data());
      pointers[place] = inputs[place].data();
    }
  }
  const auto num_elements = static_cast<std::size_t>(kernels::num_elements(tensors_[tensor]));
  reference.values.resize(num_elements);
  reference.tolerances.resize(num_elements);
  op_.tensors[tensor].reference(&workload_,
                                pointers.data(),
                                reference.values.data(),
                                reference.tolerances.data(),
                                num_elements);
  return reference;
}

std::int64_t ModuleProblem::min_bytes() const {
  if (op_.row.min_bytes != nullptr) {
    return std::max<std::int64_t>(op_.row.min_bytes(&workload_), 0);
  }
  std::int64_t num_bytes = 0;
  for (const kernels::TensorSpec& tensor : tensors_) {
    const bool moves = tensor.role == Role::kInput || tensor.role == Role::kOutput;
    num_bytes += moves ? kernels::num_bytes(tensor) : 0;
  }
  return num_bytes;
}

std::int64_t ModuleProblem::min_flops() const {
  return op_.row.min_flops == nullptr ? 0
                                      : std::max<std::int64_t>(op_.row.min_flops(&workload_), 0);
}

}  // namespace assay::profiler
