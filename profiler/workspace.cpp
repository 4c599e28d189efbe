#include "profiler/workspace.h"

#include "profiler/poison.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <utility>

namespace assay::profiler {
namespace {

using kernels::Role;
using kernels::TensorSpec;

bool is_compared(const TensorSpec& spec) {
  return (spec.role == Role::kOutput || spec.role == Role::kIntermediate) &&
         kernels::num_elements(spec) > 0;
}

// Few ranges are read one by one, many as one piece from the first to the last.
constexpr std::size_t kMostPieces = 64;
constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

std::vector<ElementRange> pieces_of(const std::vector<ElementRange>& live) {
  if (live.empty() || live.size() <= kMostPieces) {
    return live;
  }
  return {{.begin = live.front().begin, .end = live.back().end}};
}

std::int64_t guarded_bytes(std::int64_t num_bytes) {
  return num_bytes + 2 * band_bytes(num_bytes);
}

absl::Status check_size(std::span<const TensorSpec> specs, std::int64_t limit_bytes) {
  std::int64_t num_bytes = 0;
  std::int64_t all_bytes = 0;
  for (const TensorSpec& spec : specs) {
    num_bytes += kernels::num_bytes(spec);
    all_bytes += guarded_bytes(kernels::num_bytes(spec));
  }
  if (all_bytes <= limit_bytes) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat("workload of ",
                                                   with_commas(num_bytes),
                                                   " bytes is over the device's limit of ",
                                                   with_commas(limit_bytes),
                                                   ", of which guard bands take ",
                                                   with_commas(all_bytes - num_bytes),
                                                   ", choose a smaller one"));
}

}  // namespace

TensorLayout layout_of(const TensorSpec& spec) {
  return whole_tensor(spec.name, std::string(kernels::name_of(spec.dtype)), spec.shape);
}

absl::Status Workspace::load(const kernels::Problem& problem) {
  problem_ = nullptr;
  compared_.clear();
  sets_.clear();
  pointers_.clear();
  set_pointers_.clear();
  overrun_.clear();

  const std::span<const TensorSpec> specs = problem.tensors();
  ASSAY_RETURN_IF_ERROR(check_size(specs, device_.limits().memory_bytes));
  std::vector<Slot> slots(specs.size());
  kept_buffers_.resize(std::max(kept_buffers_.size(), specs.size()));
  for (std::size_t tensor = 0; tensor < specs.size(); ++tensor) {
    const TensorSpec& spec = specs[tensor];
    if (spec.role == Role::kInput) {
      ASSAY_ASSIGN_OR_RETURN(slots[tensor].input, find_or_make_input(problem, tensor));
      continue;
    }
    std::shared_ptr<GuardedBuffer>& kept = kept_buffers_[tensor];
    if (kept == nullptr) {
      kept = std::make_shared<GuardedBuffer>();
    }
    ASSAY_RETURN_IF_ERROR(kept->place(device_, kernels::num_bytes(spec)));
    slots[tensor].buffer = kept;
    if (is_compared(spec)) {
      ComparedTensor compared = {
          .tensor = tensor, .layout = layout_of(spec), .is_output = spec.role == Role::kOutput};
      compared.layout.live.clear();
      for (const kernels::ElementRange& range : problem.live(tensor)) {
        compared.layout.live.push_back({.begin = range.begin, .end = range.end});
      }
      ASSAY_RETURN_IF_ERROR(validate(compared.layout));
      compared_.push_back(std::move(compared));
    }
  }
  problem_ = &problem;
  sets_.push_back(std::move(slots));
  trim_kept_inputs();
  return rotate(1);
}

absl::StatusOr<std::shared_ptr<Workspace::Input>> Workspace::find_or_make_input(
    const kernels::Problem& problem, std::size_t tensor) {
  const TensorSpec& spec = problem.tensors()[tensor];
  // Equal bytes in another shape have another digest.
  const std::string key = absl::StrCat(spec.content_key,
                                       "/",
                                       std::string(kernels::name_of(spec.dtype)),
                                       "/",
                                       absl::StrJoin(spec.shape, ","));
  if (!spec.content_key.empty()) {
    const auto found =
        std::ranges::find(kept_inputs_, key, [](const auto& input) { return input->key; });
    if (found != kept_inputs_.end()) {
      kept_inputs_.splice(kept_inputs_.begin(), kept_inputs_, found);
      return kept_inputs_.front();
    }
  }
  auto input = std::make_shared<Input>();
  input->key = key;
  ASSAY_RETURN_IF_ERROR(input->buffer.place(device_, kernels::num_bytes(spec)));
  staging_.resize(static_cast<std::size_t>(kernels::num_bytes(spec)));
  problem.fill_input(tensor, staging_.data());
  input->digest = digest_tensor(layout_of(spec), staging_.data());
  ASSAY_RETURN_IF_ERROR(device_.write(input->buffer.data(), staging_));
  if (!spec.content_key.empty()) {
    kept_inputs_.push_front(input);
  }
  return input;
}

void Workspace::trim_kept_inputs() {
  std::int64_t num_bytes = 0;
  for (auto place = kept_inputs_.begin(); place != kept_inputs_.end();) {
    num_bytes += guarded_bytes((*place)->buffer.num_bytes());
    place = num_bytes > device_.limits().input_cache_bytes ? kept_inputs_.erase(place)
                                                           : std::next(place);
  }
}

absl::Status Workspace::rotate(std::size_t num_sets) {
  while (sets_.size() < num_sets) {
    std::vector<Slot> slots(sets_[0].size());
    for (std::size_t tensor = 0; tensor < slots.size(); ++tensor) {
      const Slot& original = sets_[0][tensor];
      const std::int64_t num_bytes = kernels::num_bytes(problem_->tensors()[tensor]);
      if (original.input != nullptr) {
        slots[tensor].input = std::make_shared<Input>();
        slots[tensor].input->digest = original.input->digest;
        ASSAY_RETURN_IF_ERROR(slots[tensor].input->buffer.place(device_, num_bytes));
        ASSAY_RETURN_IF_ERROR(device_.copy(slots[tensor].data(), original.data(), num_bytes));
      } else {
        slots[tensor].buffer = std::make_shared<GuardedBuffer>();
        ASSAY_RETURN_IF_ERROR(slots[tensor].buffer->place(device_, num_bytes));
      }
    }
    sets_.push_back(std::move(slots));
  }
  pointers_.resize(sets_.size());
  set_pointers_.resize(sets_.size());
  for (std::size_t set = 0; set < sets_.size(); ++set) {
    pointers_[set].clear();
    for (const Slot& slot : sets_[set]) {
      pointers_[set].push_back(slot.data());
    }
    set_pointers_[set] = pointers_[set].data();
  }
  return absl::OkStatus();
}

std::int64_t Workspace::set_bytes() const {
  std::int64_t num_bytes = 0;
  for (const TensorSpec& spec : problem_->tensors()) {
    num_bytes += kernels::num_bytes(spec);
  }
  return num_bytes;
}

absl::Status Workspace::poison(std::size_t set, std::byte poison) {
  const std::span<const TensorSpec> specs = problem_->tensors();
  for (std::size_t tensor = 0; tensor < specs.size(); ++tensor) {
    if (specs[tensor].role != Role::kInput) {
      const std::byte value = specs[tensor].role == Role::kScratch ? kScratchPoison : poison;
      ASSAY_RETURN_IF_ERROR(
          device_.fill(sets_[set][tensor].data(), value, kernels::num_bytes(specs[tensor])));
    }
  }
  return absl::OkStatus();
}

absl::Status Workspace::read_outputs(std::size_t set, HostOutputs& outputs) {
  outputs.bytes.resize(compared_.size());
  for (std::size_t place = 0; place < compared_.size(); ++place) {
    const TensorSpec& spec = problem_->tensors()[compared_[place].tensor];
    const std::int64_t size = kernels::size_bytes(spec.dtype);
    std::vector<std::byte>& bytes = outputs.bytes[place];
    bytes.resize(static_cast<std::size_t>(kernels::num_bytes(spec)));
    const std::byte* data = sets_[set][compared_[place].tensor].data();
    for (const ElementRange& piece : pieces_of(compared_[place].layout.live)) {
      const std::int64_t begin = piece.begin * size;
      const std::int64_t end = piece.end * size;
      ASSAY_RETURN_IF_ERROR(
          device_.read(std::span(bytes).subspan(static_cast<std::size_t>(begin),
                                                static_cast<std::size_t>(end - begin)),
                       data + begin));
    }
  }
  return absl::OkStatus();
}

absl::Status Workspace::guard(std::byte poison) {
  for (std::size_t tensor = 0; tensor < sets_[0].size(); ++tensor) {
    GuardedBuffer& buffer = sets_[0][tensor].guarded();
    const std::byte pattern = guard_pattern(problem_->tensors()[tensor].dtype, poison);
    if (buffer.pattern() == pattern) {
      continue;
    }
    if (overrun_.empty()) {
      ASSAY_ASSIGN_OR_RETURN(overrun_, find_overrun_of(sets_[0], tensor));
    }
    ASSAY_RETURN_IF_ERROR(buffer.guard(device_, pattern));
  }
  return absl::OkStatus();
}

absl::Status Workspace::split_band(
    std::size_t tensor, Side side, std::int64_t near_bytes, std::byte near, std::byte far) {
  const kernels::DType dtype = problem_->tensors()[tensor].dtype;
  return sets_[0][tensor].guarded().split_band(
      device_, side, near_bytes, guard_pattern(dtype, near), guard_pattern(dtype, far));
}

absl::StatusOr<std::string> Workspace::find_overrun_of(const std::vector<Slot>& slots,
                                                       std::size_t tensor) {
  ASSAY_ASSIGN_OR_RETURN(const auto side, slots[tensor].guarded().find_overrun(device_));
  return side.has_value()
             ? absl::StrCat(
                   std::string(text_of(*side)), " of `", problem_->tensors()[tensor].name, "`")
             : "";
}

absl::StatusOr<std::string> Workspace::find_overrun() {
  std::string overrun = overrun_;
  for (const std::vector<Slot>& slots : sets_) {
    for (std::size_t tensor = 0; tensor < slots.size() && overrun.empty(); ++tensor) {
      ASSAY_ASSIGN_OR_RETURN(overrun, find_overrun_of(slots, tensor));
    }
  }
  return overrun;
}

std::vector<std::pair<const TensorSpec*, Digest>> Workspace::inputs() const {
  std::vector<std::pair<const TensorSpec*, Digest>> inputs;
  for (std::size_t tensor = 0; tensor < sets_[0].size(); ++tensor) {
    if (sets_[0][tensor].input != nullptr) {
      inputs.emplace_back(&problem_->tensors()[tensor], sets_[0][tensor].input->digest);
    }
  }
  return inputs;
}

absl::StatusOr<std::string> Workspace::find_changed_input(std::size_t set) {
  if (set >= sets_.size()) {
    return "";
  }
  for (std::size_t tensor = 0; tensor < sets_[set].size(); ++tensor) {
    const std::shared_ptr<Input>& input = sets_[set][tensor].input;
    if (input == nullptr) {
      continue;
    }
    const TensorSpec& spec = problem_->tensors()[tensor];
    // In pieces that stay in the cache between reading and digesting.
    TensorDigester digester(layout_of(spec));
    const std::int64_t num_bytes = kernels::num_bytes(spec);
    staging_.resize(std::max(staging_.size(), kPieceBytes));
    for (std::int64_t done = 0; done < num_bytes;) {
      const std::int64_t piece = std::min(num_bytes - done, static_cast<std::int64_t>(kPieceBytes));
      const std::span<std::byte> bytes(staging_.data(), static_cast<std::size_t>(piece));
      ASSAY_RETURN_IF_ERROR(device_.read(bytes, input->buffer.data() + done));
      digester.update(bytes);
      done += piece;
    }
    if (digester.finish() != input->digest) {
      return spec.name;
    }
  }
  return "";
}

bool Workspace::has_tensors_of(const kernels::Problem& other) const {
  return std::ranges::equal(
      problem_->tensors(), other.tensors(), [](const TensorSpec& a, const TensorSpec& b) {
        return a.name == b.name && a.dtype == b.dtype && a.role == b.role && a.shape == b.shape;
      });
}

absl::Status Workspace::write_inputs(const kernels::Problem& other) {
  const std::span<const TensorSpec> specs = other.tensors();
  for (std::size_t tensor = 0; tensor < specs.size(); ++tensor) {
    if (specs[tensor].role == Role::kInput) {
      staging_.resize(static_cast<std::size_t>(kernels::num_bytes(specs[tensor])));
      other.fill_input(tensor, staging_.data());
      ASSAY_RETURN_IF_ERROR(device_.write(sets_[0][tensor].data(), staging_));
    }
  }
  return absl::OkStatus();
}

void Workspace::drop_copies() {
  const std::size_t kept = std::min<std::size_t>(sets_.size(), 1);
  sets_.resize(kept);
  pointers_.resize(kept);
  set_pointers_.resize(kept);
}

void Workspace::forget() {
  kept_inputs_.clear();
  kept_buffers_.clear();
  overrun_.clear();
}

}  // namespace assay::profiler
