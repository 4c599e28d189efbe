#include "kernels/qsa_decode/problem.h"

#include "kernels/inputs.h"
#include "kernels/qsa_decode/pool.h"
#include "kernels/qsa_decode/reference.h"
#include "kernels/qsa_decode/selection.h"
#include "kernels/thread_pool.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

namespace assay::kernels::qsa_decode {
namespace {

constexpr std::int64_t kRowsPerTask = 4'096;
constexpr int kStepWords = 4;  // pos, n_kv, num_blocks, width

std::string text_of(const Workload& workload) {
  std::string text = absl::StrCat("seed=", workload.seed);
  for (const auto& [name, value] : workload.axes) {
    absl::StrAppend(&text, " ", name, "=", value);
  }
  return text;
}

DType dtype_of(RowKind kind) {
  switch (kind) {
    case RowKind::kHalves:
    case RowKind::kScales:
      return DType::kF16;
    case RowKind::kCodes:
      return DType::kI8;
    case RowKind::kNone:
    case RowKind::kQ4Blocks:
      break;
  }
  return DType::kU8;
}

// A pool's bytes depend on what its rows hold and on their number, not on the workload.
TensorSpec pool_spec(const Shape& shape, Tensor tensor, std::string name) {
  const RowKind kind = row_kind(shape.kv, tensor);
  const DType dtype = dtype_of(kind);
  const std::int64_t columns = row_bytes(kind) / size_bytes(dtype);
  TensorSpec spec = {.name = std::move(name),
                     .dtype = dtype,
                     .role = Role::kInput,
                     .shape = {shape.num_physical_pages, kNumKvHeads, shape.page_size, columns},
                     .content_key = {}};
  if (kind == RowKind::kNone) {
    spec.shape = {0};
  }
  spec.content_key =
      absl::StrCat("qsa_decode/", spec.name, "/", static_cast<int>(kind), "/", num_bytes(spec));
  return spec;
}

class DecodeProblem : public QsaProblem {
 public:
  DecodeProblem(const Workload& workload, SelectionPlan plan);

  const Shape& shape() const override { return plan_.shape; }

  TunedLaunch tuned(TunedForm form) const override {
    return tuned_[static_cast<std::size_t>(form)];
  }

  std::span<const TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override;
  std::vector<ElementRange> live(std::size_t tensor) const override;
  Reference reference(std::size_t tensor) const override;
  std::int64_t min_bytes() const override;
  std::int64_t min_flops() const override;

 private:
  std::int32_t entries_of(std::int32_t query) const;
  std::int32_t cell_of(std::int32_t query, std::int32_t entry) const;
  bool is_visible(std::int32_t cell) const;
  void fill_q(float* q) const;
  void fill_steps(std::int32_t* steps) const;
  void fill_page_table(std::int32_t* table) const;
  void fill_pool(Tensor tensor, std::byte* bytes) const;

  SelectionPlan plan_;
  std::uint64_t seed_;
  Selection selection_;
  std::array<TunedLaunch, 2> tuned_;  // by TunedForm
  std::vector<TensorSpec> tensors_;
};

DecodeProblem::DecodeProblem(const Workload& workload, SelectionPlan plan)
    : plan_(plan),
      seed_(workload.seed),
      selection_(make_selection(plan, workload.seed)),
      tuned_({tuned_launch(TunedForm::kTwoCell, workload),
              tuned_launch(TunedForm::kLaneCell, workload)}) {
  const Shape& shape = plan_.shape;
  const std::int64_t queries = shape.num_queries;
  const std::string text = text_of(workload);
  const auto input = [&](std::string name, DType dtype, std::vector<std::int64_t> extents) {
    std::string key = absl::StrCat("qsa_decode/", name, "/", text);
    tensors_.push_back({.name = std::move(name),
                        .dtype = dtype,
                        .role = Role::kInput,
                        .shape = std::move(extents),
                        .content_key = std::move(key)});
  };
  const auto result = [&](std::string name, Role role, std::vector<std::int64_t> extents) {
    tensors_.push_back({.name = std::move(name),
                        .dtype = DType::kF32,
                        .role = role,
                        .shape = std::move(extents),
                        .content_key = {}});
  };
  input("q", DType::kF32, {queries, kNumHeads, kHeadDim});
  input("ids", DType::kI32, {queries, shape.cap});
  input("steps", DType::kI32, {queries, kStepWords});
  input("page_table", DType::kI32, {shape.num_logical_pages});
  tensors_.push_back(pool_spec(shape, kK, "k"));
  tensors_.push_back(pool_spec(shape, kKScales, "k_scales"));
  tensors_.push_back(pool_spec(shape, kV, "v"));
  tensors_.push_back(pool_spec(shape, kVScales, "v_scales"));
  result("out", Role::kOutput, {queries, kNumHeads, kHeadDim});
  result("acc", Role::kIntermediate, {queries, kNumKvHeads, shape.num_chunks, kGroup, kHeadDim});
  result("m", Role::kIntermediate, {queries, kNumKvHeads, shape.num_chunks, kGroup});
  result("l", Role::kIntermediate, {queries, kNumKvHeads, shape.num_chunks, kGroup});
}

std::int32_t DecodeProblem::entries_of(std::int32_t query) const {
  return std::min(selection_.widths[static_cast<std::size_t>(query)], plan_.shape.cap);
}

std::int32_t DecodeProblem::cell_of(std::int32_t query, std::int32_t entry) const {
  return selection_
      .ids[static_cast<std::size_t>(query) * static_cast<std::size_t>(plan_.shape.cap) +
           static_cast<std::size_t>(entry)];
}

bool DecodeProblem::is_visible(std::int32_t cell) const {
  return selection_.is_resident[static_cast<std::size_t>(cell / plan_.shape.page_size)];
}

void DecodeProblem::fill_q(float* q) const {
  const std::uint64_t key = make_key(seed_, "q");
  const std::int64_t size = num_elements(tensors_[kQ]);
  for (std::int64_t i = 0; i < size; ++i) {
    q[i] = random_normal(key, static_cast<std::uint64_t>(i));
  }
}

void DecodeProblem::fill_steps(std::int32_t* steps) const {
  const std::int32_t num_cells = plan_.shape.num_logical_pages * plan_.shape.page_size;
  for (const std::int32_t width : selection_.widths) {
    const std::int32_t step[kStepWords] = {num_cells - 1, num_cells, num_cells / 4, width};
    steps = std::copy_n(step, kStepWords, steps);
  }
}

void DecodeProblem::fill_page_table(std::int32_t* table) const {
  for (std::size_t page = 0; page < selection_.physical_page.size(); ++page) {
    table[page] = selection_.is_resident[page] ? selection_.physical_page[page] : -1;
  }
}

void DecodeProblem::fill_pool(Tensor tensor, std::byte* bytes) const {
  const RowKind kind = row_kind(plan_.shape.kv, tensor);
  const std::int64_t size = row_bytes(kind);
  if (size == 0) {
    return;
  }
  const std::int64_t num_rows = num_bytes(tensors_[tensor]) / size;
  shared_threads().for_each(
      static_cast<int>(available_processors().size()),
      (num_rows + kRowsPerTask - 1) / kRowsPerTask,
      [&](std::int64_t task) {
        const std::int64_t first = task * kRowsPerTask;
        const std::int64_t count = std::min(kRowsPerTask, num_rows - first);
        fill_rows(kind,
                  tensor,
                  first,
                  std::span(bytes + first * size, static_cast<std::size_t>(count * size)));
      });
}

void DecodeProblem::fill_input(std::size_t tensor, std::byte* bytes) const {
  switch (tensor) {
    case kQ:
      return fill_q(reinterpret_cast<float*>(bytes));
    case kIds:
      std::memcpy(bytes, selection_.ids.data(), selection_.ids.size() * sizeof(std::int32_t));
      return;
    case kSteps:
      return fill_steps(reinterpret_cast<std::int32_t*>(bytes));
    case kPageTable:
      return fill_page_table(reinterpret_cast<std::int32_t*>(bytes));
    default:
      return fill_pool(static_cast<Tensor>(tensor), bytes);
  }
}

std::vector<ElementRange> DecodeProblem::live(std::size_t tensor) const {
  if (tensor != kAcc) {
    return {{.begin = 0, .end = num_elements(tensors_[tensor])}};
  }
  // Chunks past the width are marked empty and their acc is not written.
  std::vector<ElementRange> ranges;
  const std::int64_t per_chunk = std::int64_t{kGroup} * kHeadDim;
  const std::int64_t per_head = plan_.shape.num_chunks * per_chunk;
  for (std::int32_t query = 0; query < plan_.shape.num_queries; ++query) {
    const std::int64_t num_live = (entries_of(query) + kChunk - 1) / kChunk;
    for (int kv_head = 0; num_live > 0 && kv_head < kNumKvHeads; ++kv_head) {
      const std::int64_t begin = (std::int64_t{query} * kNumKvHeads + kv_head) * per_head;
      ranges.push_back({.begin = begin, .end = begin + num_live * per_chunk});
    }
  }
  return ranges;
}

Reference DecodeProblem::reference(std::size_t /*tensor*/) const {
  ReferenceInput input;
  input.q.resize(static_cast<std::size_t>(num_elements(tensors_[kQ])));
  fill_q(input.q.data());
  for (std::int32_t query = 0; query < plan_.shape.num_queries; ++query) {
    std::vector<std::int32_t>& cells = input.visible.emplace_back();
    for (std::int32_t entry = 0; entry < entries_of(query); ++entry) {
      if (is_visible(cell_of(query, entry))) {
        cells.push_back(cell_of(query, entry));
      }
    }
    input.num_live_chunks.push_back((entries_of(query) + kChunk - 1) / kChunk);
  }
  input.read_row =
      [this](std::int32_t cell, int kv_head, bool is_key, std::span<double, kHeadDim> values) {
        const std::int64_t page_size = plan_.shape.page_size;
        const std::int64_t page =
            selection_.physical_page[static_cast<std::size_t>(cell / page_size)];
        const std::int64_t row = (page * kNumKvHeads + kv_head) * page_size + cell % page_size;
        dequantised_row(plan_.shape.kv, is_key, row, values);
      };
  return qsa_decode_reference(input);
}

std::int64_t DecodeProblem::min_bytes() const {
  std::vector<bool> is_read(static_cast<std::size_t>(plan_.shape.num_logical_pages) *
                            static_cast<std::size_t>(plan_.shape.page_size));
  std::int64_t num_entries = 0;
  for (std::int32_t query = 0; query < plan_.shape.num_queries; ++query) {
    num_entries += entries_of(query);
    for (std::int32_t entry = 0; entry < entries_of(query); ++entry) {
      const std::int32_t cell = cell_of(query, entry);
      is_read[static_cast<std::size_t>(cell)] = is_visible(cell);
    }
  }
  std::int64_t bytes_per_cell = 0;
  for (const Tensor tensor : {kK, kKScales, kV, kVScales}) {
    bytes_per_cell += kNumKvHeads * row_bytes(row_kind(plan_.shape.kv, tensor));
  }
  const std::int64_t num_cells = std::ranges::count(is_read, true);
  return num_cells * bytes_per_cell + num_entries * size_bytes(DType::kI32) +
         num_bytes(tensors_[kQ]) + num_bytes(tensors_[kOut]);
}

// A score and a value take 2 * kHeadDim each for every visible cell of a selection.
std::int64_t DecodeProblem::min_flops() const {
  std::int64_t num_visible = 0;
  for (std::int32_t query = 0; query < plan_.shape.num_queries; ++query) {
    for (std::int32_t entry = 0; entry < entries_of(query); ++entry) {
      num_visible += is_visible(cell_of(query, entry)) ? 1 : 0;
    }
  }
  return 4 * std::int64_t{kHeadDim} * kNumHeads * num_visible;
}

}  // namespace

absl::Status validate(const Workload& workload) {
  return parse_selection(workload).status();
}

std::unique_ptr<Problem> make_problem(const Workload& workload) {
  return std::make_unique<DecodeProblem>(workload, *parse_selection(workload));
}

}  // namespace assay::kernels::qsa_decode
