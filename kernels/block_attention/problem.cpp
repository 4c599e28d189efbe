#include "kernels/block_attention/problem.h"

#include "kernels/attention/softmax.h"
#include "kernels/block_attention/data.h"
#include "kernels/block_attention/plan.h"
#include "kernels/block_attention/reference.h"
#include "kernels/thread_pool.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace assay::kernels::block_attention {
namespace {

constexpr std::int64_t kKeysPerTask = 1'024;
constexpr std::int64_t kElementsPerTask = std::int64_t{1} << 20;

// Equal for workloads that differ only in axes on which the tensor's bytes do not depend.
std::string content_key(const Workload& workload,
                        std::string_view tensor,
                        std::initializer_list<std::string_view> without) {
  std::string key = absl::StrCat("block_attention/", std::string(tensor), "/seed=", workload.seed);
  for (const auto& [name, value] : workload.axes) {
    if (std::ranges::find(without, name) == without.end()) {
      absl::StrAppend(&key, " ", name, "=", value);
    }
  }
  return key;
}

// A piece of a context's buffer that one task fills: keys of one head of a stream, or a gap.
struct Piece {
  const Stream* stream = nullptr;  // null: a gap before the first one
  std::int32_t head = 0;
  std::int64_t first = 0;  // key; of a gap: element
  std::int64_t count = 0;
};

class AttentionProblem : public PlannedProblem {
 public:
  AttentionProblem(const Workload& workload, BlockPlan plan);

  const Shape& shape() const override { return plan_.shape; }

  attention::TunedItems tuned() const override { return tuned_; }

  const BlockPlan& plan() const override { return plan_; }

  std::span<const TensorSpec> tensors() const override { return tensors_; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override;
  std::vector<ElementRange> live(std::size_t tensor) const override;
  Reference reference(std::size_t tensor) const override;
  std::int64_t min_bytes() const override;
  std::int64_t min_flops() const override;

 private:
  void describe_tensors(const Workload& workload);

  std::int64_t num_rows() const { return plan_.shape.num_rows(); }

  // The first context key that a row of the stream sees.
  std::int64_t first_key(const Stream& stream) const;
  void fill_rows(Part part, std::int32_t num_heads, std::uint16_t* rows) const;
  std::vector<Piece> pieces() const;
  void fill_piece(Part part, const Piece& piece, std::uint16_t* buffer) const;
  void fill_context(Part part, std::uint16_t* buffer) const;
  void fill_table(std::int64_t* table) const;

  BlockPlan plan_;
  attention::TunedItems tuned_;
  std::vector<TensorSpec> tensors_;
};

AttentionProblem::AttentionProblem(const Workload& workload, BlockPlan plan)
    : plan_(std::move(plan)), tuned_(attention::tuned_items("block_attention", "width", workload)) {
  describe_tensors(workload);
}

void AttentionProblem::describe_tensors(const Workload& workload) {
  const Shape& shape = plan_.shape;
  const std::int64_t rows = num_rows();
  const std::int64_t runs = attention::num_runs_of(shape.num_groups);
  const auto input = [&](std::string name,
                         DType dtype,
                         std::vector<std::int64_t> extents,
                         std::initializer_list<std::string_view> without) {
    std::string key = content_key(workload, name, without);
    tensors_.push_back({.name = std::move(name),
                        .dtype = dtype,
                        .role = Role::kInput,
                        .shape = std::move(extents),
                        .content_key = std::move(key)});
  };
  const auto result =
      [&](std::string name, DType dtype, Role role, std::vector<std::int64_t> extents) {
        tensors_.push_back({.name = std::move(name),
                            .dtype = dtype,
                            .role = role,
                            .shape = std::move(extents),
                            .content_key = {}});
      };
  input("q",
        DType::kBF16,
        {shape.num_heads, rows, shape.dim},
        {"kv_heads", "window", "causal", "slack", "unread", "base_offset"});
  for (const std::string_view name : {"k_block", "v_block"}) {
    input(std::string(name),
          DType::kBF16,
          {shape.num_kv_heads, rows, shape.dim},
          {"heads", "window", "causal", "slack", "unread", "base_offset"});
  }
  for (const std::string_view name : {"k_context", "v_context"}) {
    input(std::string(name),
          DType::kBF16,
          {plan_.num_context_elements},
          {"heads", "width", "causal"});
  }
  input("table",
        DType::kI64,
        {shape.num_streams, 3},
        {"heads", "width", "window", "causal", "unread", "data"});
  input("lengths",
        DType::kI32,
        {shape.num_streams},
        {"heads",
         "kv_heads",
         "dim",
         "width",
         "window",
         "causal",
         "slack",
         "unread",
         "data",
         "base_offset"});
  result("out", DType::kBF16, Role::kOutput, {rows, shape.num_heads * shape.dim});
  result("result", DType::kF32, Role::kIntermediate, {rows, shape.num_heads * shape.dim});
  const auto states = [&](std::string_view prefix, Role role, std::int64_t count) {
    const auto named = [&](std::string_view suffix) {
      return absl::StrCat(std::string(prefix), std::string(suffix));
    };
    result(named("_m"), DType::kF32, role, {count, rows, shape.num_heads});
    result(named("_l"), DType::kF32, role, {count, rows, shape.num_heads});
    result(named("_o"), DType::kF32, role, {count, rows, shape.num_heads, shape.dim});
  };
  states("partial", Role::kIntermediate, shape.num_groups);
  states("run", Role::kScratch, runs);
  states("slice", Role::kScratch, std::int64_t{shape.num_groups} * attention::kSlices);
}

std::int64_t AttentionProblem::first_key(const Stream& stream) const {
  return visible_range(plan_.shape, stream.context, 0).begin;
}

// Rows of the block, head by head.
void AttentionProblem::fill_rows(Part part, std::int32_t num_heads, std::uint16_t* rows) const {
  const auto dim = static_cast<std::size_t>(plan_.shape.dim);
  for (std::int32_t head = 0; head < num_heads; ++head) {
    for (const Stream& stream : plan_.streams) {
      for (std::int32_t row = 0; row < plan_.shape.width; ++row, rows += dim) {
        fill_row(plan_, part, stream, head, stream.context + row, std::span(rows, dim));
      }
    }
  }
}

std::vector<Piece> AttentionProblem::pieces() const {
  std::vector<Piece> made;
  const auto cut = [&](Piece piece, std::int64_t end, std::int64_t step) {
    for (piece.first = 0; piece.first < end; piece.first += step) {
      piece.count = std::min(step, end - piece.first);
      made.push_back(piece);
    }
  };
  cut({}, plan_.base_offset, kElementsPerTask);
  for (const Stream& stream : plan_.streams) {
    for (std::int32_t head = 0; head < plan_.shape.num_kv_heads; ++head) {
      cut({.stream = &stream, .head = head}, stream.head_stride / plan_.shape.dim, kKeysPerTask);
    }
  }
  return made;
}

void AttentionProblem::fill_piece(Part part, const Piece& piece, std::uint16_t* buffer) const {
  if (piece.stream == nullptr) {
    return fill_unread(
        plan_, piece.first, std::span(buffer + piece.first, static_cast<std::size_t>(piece.count)));
  }
  const Stream& stream = *piece.stream;
  const auto dim = static_cast<std::size_t>(plan_.shape.dim);
  const std::int64_t begin =
      (part == Part::kKey ? stream.k_offset : stream.v_offset) + piece.head * stream.head_stride;
  for (std::int64_t key = piece.first; key < piece.first + piece.count; ++key) {
    const std::int64_t place = begin + key * plan_.shape.dim;
    const std::span<std::uint16_t> row(buffer + place, dim);
    if (key >= first_key(stream) && key < stream.context) {
      fill_row(plan_, part, stream, piece.head, key, row);
    } else {
      fill_unread(plan_, place, row);
    }
  }
}

void AttentionProblem::fill_context(Part part, std::uint16_t* buffer) const {
  const std::vector<Piece> all = pieces();
  shared_threads().for_each(
      static_cast<int>(available_processors().size()), std::ssize(all), [&](std::int64_t task) {
        fill_piece(part, all[static_cast<std::size_t>(task)], buffer);
      });
}

void AttentionProblem::fill_table(std::int64_t* table) const {
  for (const Stream& stream : plan_.streams) {
    table =
        std::ranges::copy(std::array{stream.k_offset, stream.v_offset, stream.head_stride}, table)
            .out;
  }
}

void AttentionProblem::fill_input(std::size_t tensor, std::byte* bytes) const {
  auto* const halves = reinterpret_cast<std::uint16_t*>(bytes);
  switch (tensor) {
    case kQ:
      return fill_rows(Part::kQuery, plan_.shape.num_heads, halves);
    case kKBlock:
      return fill_rows(Part::kKey, plan_.shape.num_kv_heads, halves);
    case kVBlock:
      return fill_rows(Part::kValue, plan_.shape.num_kv_heads, halves);
    case kKContext:
      return fill_context(Part::kKey, halves);
    case kVContext:
      return fill_context(Part::kValue, halves);
    case kTable:
      return fill_table(reinterpret_cast<std::int64_t*>(bytes));
    case kLengths:
      std::ranges::transform(
          plan_.streams, reinterpret_cast<std::int32_t*>(bytes), &Stream::context);
      return;
    default:
      return;
  }
}

std::vector<ElementRange> AttentionProblem::live(std::size_t tensor) const {
  const std::int64_t size = num_elements(tensors_[tensor]);
  if (size == 0) {
    return {};
  }
  if (tensor != kPartialM && tensor != kPartialL && tensor != kPartialO) {
    return {{.begin = 0, .end = size}};
  }
  // Partials of the groups that hold a key that the row sees.
  const std::int64_t per_row = size / plan_.shape.num_groups / num_rows();
  std::vector<ElementRange> ranges;
  for (std::int64_t group = 0, begin = 0; group < plan_.shape.num_groups; ++group) {
    for (const Stream& stream : plan_.streams) {
      for (std::int32_t row = 0; row < plan_.shape.width; ++row, begin += per_row) {
        const attention::KeyRange keys = visible_range(plan_.shape, stream.context, row);
        if (keys.begin >= (group + 1) * attention::kGroupKeys ||
            keys.end <= group * attention::kGroupKeys) {
          continue;
        }
        if (!ranges.empty() && ranges.back().end == begin) {
          ranges.back().end += per_row;
        } else {
          ranges.push_back({.begin = begin, .end = begin + per_row});
        }
      }
    }
  }
  return ranges;
}

Reference AttentionProblem::reference(std::size_t /*tensor*/) const {
  const Shape& shape = plan_.shape;
  ReferenceInput input = {.contexts = {},
                          .width = shape.width,
                          .num_heads = shape.num_heads,
                          .num_kv_heads = shape.num_kv_heads,
                          .dim = shape.dim,
                          .window = shape.window,
                          .is_causal = shape.is_causal,
                          .scale = shape.scale,
                          .read_query = {},
                          .read_key = {},
                          .read_value = {}};
  for (const Stream& stream : plan_.streams) {
    input.contexts.push_back(stream.context);
  }
  const auto reader = [this](Part part) {
    return [this, part](std::size_t stream,
                        std::int64_t head,
                        std::int64_t position,
                        std::span<float> values) {
      std::array<std::uint16_t, 256> row;
      const std::span<std::uint16_t> halves = std::span(row).first(values.size());
      fill_row(
          plan_, part, plan_.streams[stream], static_cast<std::int32_t>(head), position, halves);
      std::ranges::transform(halves, values.begin(), attention::from_bf16);
    };
  };
  input.read_query = reader(Part::kQuery);
  input.read_key = reader(Part::kKey);
  input.read_value = reader(Part::kValue);
  return block_attention_reference(input);
}

std::int64_t AttentionProblem::min_bytes() const {
  std::int64_t num_keys = 0;
  for (const Stream& stream : plan_.streams) {
    num_keys += stream.context - first_key(stream) + plan_.shape.width;
  }
  const std::int64_t row_bytes = plan_.shape.dim * size_bytes(DType::kBF16);
  return num_keys * plan_.shape.num_kv_heads * 2 * row_bytes + num_bytes(tensors_[kQ]) +
         num_bytes(tensors_[kOut]);
}

// A score and a value take 2 * dim each for every key that a row sees.
std::int64_t AttentionProblem::min_flops() const {
  const Shape& shape = plan_.shape;
  std::int64_t num_keys = 0;
  for (const Stream& stream : plan_.streams) {
    for (std::int32_t row = 0; row < shape.width; ++row) {
      const attention::KeyRange keys = visible_range(shape, stream.context, row);
      num_keys += keys.end - keys.begin;
    }
  }
  return 4 * std::int64_t{shape.dim} * shape.num_heads * num_keys;
}

}  // namespace

absl::Status validate(const Workload& workload) {
  return parse_plan(workload).status();
}

std::unique_ptr<Problem> make_problem(const Workload& workload) {
  return std::make_unique<AttentionProblem>(workload, *parse_plan(workload));
}

}  // namespace assay::kernels::block_attention
