// One workload of a source: its tensors in the order inputs, starts of what is both read and
// written, outputs, intermediates, scratch.
#pragma once

#include "kernels/operator.h"
#include "profiler/source_blobs.h"
#include "profiler/source_launch.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

// Null where the text names none.
const kernels::DType* find_dtype(std::string_view text);

class SourceProblem : public kernels::Problem {
 public:
  // `spec` is complete and outlives it; `shapes` are its tensors'. `blobs` holds what fills and
  // references name. INVALID_ARGUMENT: data has another size than its tensor.
  static absl::StatusOr<std::unique_ptr<SourceProblem>> make(
      const v1::SourceSpec& spec,
      std::vector<std::vector<std::int64_t>> shapes,
      std::uint64_t seed,
      const std::map<std::string, Blob>& blobs);

  std::span<const kernels::TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override;
  std::vector<kernels::ElementRange> live(std::size_t tensor) const override;
  // Without values where the specification has no reference, or its variant was not run.
  kernels::Reference reference(std::size_t tensor) const override;
  std::int64_t min_bytes() const override;

  std::int64_t min_flops() const override { return 0; }

  // Where a tensor of the specification is in tensors().
  std::size_t place_of(const std::string& name) const { return places_.at(name); }

  // What every call puts back before its first stage.
  const std::vector<TensorCopy>& copies() const { return copies_; }

  // What the variant that is the reference of this output wrote there.
  void set_reference(std::size_t tensor, std::vector<double> values);

 private:
  explicit SourceProblem(std::uint64_t seed) : seed_(seed) {}

  void add(const v1::SourceTensor& tensor,
           const std::vector<std::int64_t>& shape,
           kernels::Role role,
           std::string name);
  absl::Status check_blobs(const std::map<std::string, Blob>& blobs);

  std::uint64_t seed_;
  std::vector<kernels::TensorSpec> tensors_;
  std::vector<const v1::SourceTensor*> sources_;  // of each of tensors_
  std::vector<Blob> fills_;                       // null: of the generator, or no input
  std::vector<Blob> references_;
  std::map<std::string, std::size_t> places_;
  std::map<std::size_t, std::vector<double>> values_;
  std::vector<TensorCopy> copies_;
};

}  // namespace assay::profiler
