#include "profiler/source_problem.h"

#include "profiler/source_fill.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace assay::profiler {
namespace {

using kernels::DType;
using kernels::Role;

constexpr std::array<DType, 7> kTypes = {
    DType::kF32, DType::kF16, DType::kBF16, DType::kI8, DType::kU8, DType::kI32, DType::kI64};

// The order of tensors; what is both read and written is an input and an output.
constexpr std::array<std::pair<std::string_view, Role>, 6> kOrder = {{
    {"input", Role::kInput},
    {"in_out", Role::kInput},
    {"output", Role::kOutput},
    {"in_out", Role::kOutput},
    {"intermediate", Role::kIntermediate},
    {"scratch", Role::kScratch},
}};

absl::Status check_size(const std::string& what, const Blob& blob, std::int64_t needed) {
  return static_cast<std::int64_t>(blob->size()) == needed
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   absl::StrCat(what,
                                ": the data has ",
                                proto::with_commas(static_cast<std::int64_t>(blob->size())),
                                " bytes, the shape needs ",
                                proto::with_commas(needed)));
}

// What makes the bytes of an input, beside type and shape.
std::string content_key(const v1::SourceTensor& tensor, std::uint64_t seed) {
  const v1::SourceFill& fill = tensor.fill();
  if (fill.kind() == "file") {
    return absl::StrCat("source file/", fill.digest());
  }
  v1::SourceFill made_of = fill;
  made_of.clear_file();
  return absl::StrCat("source ", made_of.SerializeAsString(), "/", tensor.name(), "/", seed);
}

template <class T>
std::vector<double> numbers_of(const Blob& blob) {
  std::vector<double> numbers(blob->size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T value;
    std::memcpy(&value, blob->data() + i * sizeof(T), sizeof value);
    numbers[i] = static_cast<double>(value);
  }
  return numbers;
}

}  // namespace

const DType* find_dtype(std::string_view text) {
  const auto* const found =
      std::ranges::find_if(kTypes, [&](DType dtype) { return kernels::name_of(dtype) == text; });
  return found == kTypes.end() ? nullptr : found;
}

absl::StatusOr<std::unique_ptr<SourceProblem>> SourceProblem::make(
    const v1::SourceSpec& spec,
    std::vector<std::vector<std::int64_t>> shapes,
    std::uint64_t seed,
    const std::map<std::string, Blob>& blobs) {
  std::unique_ptr<SourceProblem> problem(new SourceProblem(seed));
  for (const auto& [role, place] : kOrder) {
    for (int index = 0; index < spec.tensors_size(); ++index) {
      const v1::SourceTensor& tensor = spec.tensors(index);
      if (tensor.role() == role) {
        const bool is_start = role == "in_out" && place == Role::kInput;
        problem->add(tensor,
                     shapes[static_cast<std::size_t>(index)],
                     place,
                     is_start ? absl::StrCat(tensor.name(), " (start)") : tensor.name());
      }
    }
  }
  for (const v1::SourceTensor& tensor : spec.tensors()) {
    if (tensor.role() == "in_out") {
      const std::size_t to = problem->place_of(tensor.name());
      problem->copies_.push_back(
          {.from = problem->place_of(absl::StrCat(tensor.name(), " (start)")),
           .to = to,
           .num_bytes = kernels::num_bytes(problem->tensors_[to])});
    }
  }
  ASSAY_RETURN_IF_ERROR(problem->check_blobs(blobs));
  return problem;
}

void SourceProblem::add(const v1::SourceTensor& tensor,
                        const std::vector<std::int64_t>& shape,
                        Role role,
                        std::string name) {
  places_[name] = tensors_.size();
  kernels::TensorSpec& spec = tensors_.emplace_back();
  spec.name = std::move(name);
  spec.dtype = *find_dtype(tensor.dtype());
  spec.role = role;
  spec.shape = shape;
  if (role == Role::kInput) {
    spec.content_key = content_key(tensor, seed_);
  }
  sources_.push_back(&tensor);
}

absl::Status SourceProblem::check_blobs(const std::map<std::string, Blob>& blobs) {
  fills_.resize(tensors_.size());
  references_.resize(tensors_.size());
  for (std::size_t place = 0; place < tensors_.size(); ++place) {
    const v1::SourceTensor& source = *sources_[place];
    if (tensors_[place].role == Role::kInput && source.fill().kind() == "file") {
      fills_[place] = blobs.at(source.fill().digest());
      ASSAY_RETURN_IF_ERROR(check_size(absl::StrCat("tensor ", source.name(), ": fill"),
                                       fills_[place],
                                       kernels::num_bytes(tensors_[place])));
    }
    if (tensors_[place].role == Role::kOutput && !source.reference().digest().empty()) {
      references_[place] = blobs.at(source.reference().digest());
      const std::int64_t size = source.reference().dtype() == "f64" ? 8 : 4;
      ASSAY_RETURN_IF_ERROR(check_size(absl::StrCat("tensor ", source.name(), ": reference"),
                                       references_[place],
                                       size * kernels::num_elements(tensors_[place])));
    }
  }
  return absl::OkStatus();
}

void SourceProblem::fill_input(std::size_t tensor, std::byte* bytes) const {
  const auto num_bytes = static_cast<std::size_t>(kernels::num_bytes(tensors_[tensor]));
  if (fills_[tensor] != nullptr) {
    std::copy_n(fills_[tensor]->data(), num_bytes, bytes);
  } else {
    fill_source(*sources_[tensor], tensors_[tensor].dtype, seed_, {bytes, num_bytes});
  }
}

std::vector<kernels::ElementRange> SourceProblem::live(std::size_t tensor) const {
  return {{.begin = 0, .end = kernels::num_elements(tensors_[tensor])}};
}

kernels::Reference SourceProblem::reference(std::size_t tensor) const {
  kernels::Reference reference;
  const v1::SourceReference& said = sources_[tensor]->reference();
  if (const auto found = values_.find(tensor); found != values_.end()) {
    reference.values = found->second;
  } else if (references_[tensor] != nullptr) {
    reference.values = said.dtype() == "f64" ? numbers_of<double>(references_[tensor])
                                             : numbers_of<float>(references_[tensor]);
  }
  reference.tolerances.reserve(reference.values.size());
  for (const double expected : reference.values) {
    reference.tolerances.push_back(said.absolute() + said.relative() * std::abs(expected));
  }
  return reference;
}

std::int64_t SourceProblem::min_bytes() const {
  std::int64_t num_bytes = 0;
  for (const kernels::TensorSpec& spec : tensors_) {
    if (spec.role == Role::kInput || spec.role == Role::kOutput) {
      num_bytes += kernels::num_bytes(spec);
    }
  }
  return num_bytes;
}

void SourceProblem::set_reference(std::size_t tensor, std::vector<double> values) {
  values_[tensor] = std::move(values);
}

}  // namespace assay::profiler
