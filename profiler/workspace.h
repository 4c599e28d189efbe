// The tensors of the problem at hand in device memory. Set 0 is the one that is checked; further
// sets are copies for cold runs. Inputs are kept by content key from one problem to the next,
// outputs by place. Errors are the device's, except RESOURCE_EXHAUSTED from load() and rotate().
#pragma once

#include "kernels/operator.h"
#include "profiler/device.h"
#include "profiler/digest.h"
#include "profiler/guarded_buffer.h"
#include "profiler/tensor.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay::profiler {

// An output or intermediate: what is compared.
struct ComparedTensor {
  std::size_t tensor = 0;  // place in Problem::tensors()
  TensorLayout layout;
  bool is_output = false;
};

// Host copies of the compared tensors, in the order of Workspace::compared(). Bytes outside of the
// live elements are not set.
struct HostOutputs {
  std::vector<std::vector<std::byte>> bytes;
};

TensorLayout layout_of(const kernels::TensorSpec& spec);

class Workspace {
 public:
  explicit Workspace(Device& device) : device_(device) {}

  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() = default;

  // Makes set 0 of the problem; drops the sets before. `problem` must outlive its use here.
  absl::Status load(const kernels::Problem& problem);
  // Adds copies until there are `num_sets`.
  absl::Status rotate(std::size_t num_sets);

  std::span<void* const* const> sets() const { return set_pointers_; }

  std::span<const ComparedTensor> compared() const { return compared_; }

  // Of one set, guard bands left out.
  std::int64_t set_bytes() const;

  // Fills what is compared with `poison` and scratch with NaN patterns.
  absl::Status poison(std::size_t set, std::byte poison);
  // Reads the live elements of a set's compared tensors.
  absl::Status read_outputs(std::size_t set, HostOutputs& outputs);

  // Makes the bands around set 0 what goes with a call on `poison`. What was written to them before
  // is kept for find_overrun().
  absl::Status guard(std::byte poison);
  // One band of set 0 in two parts: `near_bytes` next to the tensor as in calls on `near`, the rest
  // as on `far`. It has to be all as on the poison of guard() again when the next call is checked.
  absl::Status split_band(
      std::size_t tensor, Side side, std::int64_t near_bytes, std::byte near, std::byte far);
  // The first tensor whose guard band was written to and where; empty: none.
  absl::StatusOr<std::string> find_overrun();

  // Digests of the inputs as they were made, in tensor order.
  std::vector<std::pair<const kernels::TensorSpec*, Digest>> inputs() const;
  // The name of the first input of a set that is no longer what was made; empty: none, or no set.
  absl::StatusOr<std::string> find_changed_input(std::size_t set);

  // Whether the problem's tensors have the names, types, roles and shapes of the loaded one's.
  bool has_tensors_of(const kernels::Problem& other) const;
  // The bytes of another problem's inputs in the first set, at the places of those that were made;
  // has_tensors_of() it. Until restore_inputs().
  absl::Status write_inputs(const kernels::Problem& other);

  absl::Status restore_inputs() { return write_inputs(*problem_); }

  // Frees the copies for cold runs.
  void drop_copies();
  // Drops kept inputs and outputs: after a call that wrote where it must not.
  void forget();

 private:
  struct Input {
    std::string key;
    GuardedBuffer buffer;
    Digest digest;
  };

  struct Slot {
    std::shared_ptr<Input> input;           // inputs
    std::shared_ptr<GuardedBuffer> buffer;  // all others

    GuardedBuffer& guarded() const { return input ? input->buffer : *buffer; }

    std::byte* data() const { return guarded().data(); }
  };

  absl::StatusOr<std::shared_ptr<Input>> find_or_make_input(const kernels::Problem& problem,
                                                            std::size_t tensor);
  void trim_kept_inputs();
  absl::StatusOr<std::string> find_overrun_of(const std::vector<Slot>& slots, std::size_t tensor);

  Device& device_;
  const kernels::Problem* problem_ = nullptr;
  std::vector<ComparedTensor> compared_;
  std::vector<std::vector<Slot>> sets_;
  std::vector<std::vector<void*>> pointers_;
  std::vector<void* const*> set_pointers_;
  std::list<std::shared_ptr<Input>> kept_inputs_;  // most recently used first
  std::vector<std::shared_ptr<GuardedBuffer>> kept_buffers_;
  std::vector<std::byte> staging_;
  std::string overrun_;  // found by guard(), not told yet
};

}  // namespace assay::profiler
