#include "kernels/tree_attention/problem.h"

#include "kernels/thread_pool.h"
#include "kernels/tree_attention/data.h"
#include "kernels/tree_attention/plan.h"
#include "kernels/tree_attention/reference.h"
#include "kernels/tree_attention/tables.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

namespace assay::kernels::tree_attention {
namespace {

constexpr std::int64_t kKeysPerTask = 256;
constexpr std::int64_t kUnreadPerTask = std::int64_t{1} << 20;

std::string text_of(const Workload& workload) {
  std::string text = absl::StrCat("seed=", workload.seed);
  for (const auto& [name, value] : workload.axes) {
    absl::StrAppend(&text, " ", name, "=", value);
  }
  return text;
}

// All that the bytes of a cache depend on.
std::string cache_key(const Plan& plan) {
  std::string text = absl::StrCat("seed=",
                                  plan.seed,
                                  " data=",
                                  static_cast<int>(plan.data),
                                  " unread=",
                                  static_cast<int>(plan.unread),
                                  " kv_heads=",
                                  plan.num_kv_heads,
                                  " dim=",
                                  plan.dim,
                                  " slack=",
                                  plan.slack,
                                  " base_offset=",
                                  plan.base_offset);
  for (const StreamView& view : plan.streams) {
    const Stream& stream = plan.whole[static_cast<std::size_t>(view.stream)];
    absl::StrAppend(&text, " ", view.stream, ":", stream.committed);
    if (!view.accepted.empty()) {
      absl::StrAppend(
          &text, "+", absl::StrJoin(view.accepted, ","), "/", absl::StrJoin(stream.parents, ","));
    }
  }
  return text;
}

template <class Value>
void copy_table(const std::vector<Value>& table, std::byte* bytes) {
  // An empty table's data may be null.
  if (!table.empty()) {
    std::memcpy(bytes, table.data(), table.size() * sizeof(Value));
  }
}

template <class Task>
void in_parallel(std::int64_t num_tasks, const Task& task) {
  shared_threads().for_each(static_cast<int>(available_processors().size()), num_tasks, task);
}

class AttentionProblem : public ViewProblem {
 public:
  AttentionProblem(const Workload& workload, Plan plan);

  const Shape& shape() const override { return tables_.shape; }

  attention::TunedItems tuned() const override { return tuned_; }

  std::span<const TensorSpec> tensors() const override { return tensors_; }

  std::span<const RowId> row_ids() const override { return row_ids_; }

  std::span<const std::int32_t> row_keys() const override { return tables_.row_keys; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override;
  std::vector<ElementRange> live(std::size_t tensor) const override;

  Reference reference(std::size_t /*tensor*/) const override {
    return tree_attention_reference(plan_);
  }

  std::int64_t min_bytes() const override;
  std::int64_t min_flops() const override;

 private:
  void add_inputs(const Workload& workload);
  void add_results();
  void fill_queries(std::uint16_t* values) const;
  void fill_drafted(Tensor tensor, std::uint16_t* values) const;
  void fill_cache(Tensor tensor, std::uint16_t* values) const;
  void fill_keys(Tensor tensor,
                 const StreamView& view,
                 std::int64_t first,
                 std::int64_t last,
                 std::uint16_t* values) const;

  Plan plan_;
  Tables tables_;
  attention::TunedItems tuned_;
  std::vector<RowId> row_ids_;
  std::vector<TensorSpec> tensors_;
};

AttentionProblem::AttentionProblem(const Workload& workload, Plan plan)
    : plan_(std::move(plan)),
      tables_(make_tables(plan_)),
      tuned_(attention::tuned_items("tree_attention", "rows", workload)) {
  for (const StreamView& view : plan_.streams) {
    for (const std::int32_t row : view.rows) {
      row_ids_.push_back({.stream = view.stream, .row = row});
    }
  }
  add_inputs(workload);
  add_results();
}

void AttentionProblem::add_inputs(const Workload& workload) {
  const Shape& shape = tables_.shape;
  const std::int64_t rows = shape.num_rows;
  const std::string call = text_of(workload);
  const std::string cache = cache_key(plan_);
  const auto add = [&](std::string name,
                       DType dtype,
                       std::vector<std::int64_t> extents,
                       const std::string& key) {
    std::string content_key = absl::StrCat("tree_attention/", name, "/", key);
    tensors_.push_back({.name = std::move(name),
                        .dtype = dtype,
                        .role = Role::kInput,
                        .shape = std::move(extents),
                        .content_key = std::move(content_key)});
  };
  add("q", DType::kBF16, {rows, shape.num_heads, shape.dim}, call);
  add("k_rows", DType::kBF16, {rows, shape.num_kv_heads, shape.dim}, call);
  add("v_rows", DType::kBF16, {rows, shape.num_kv_heads, shape.dim}, call);
  add("k_cache", DType::kBF16, {tables_.cache_elements}, cache);
  add("v_cache", DType::kBF16, {tables_.cache_elements}, cache);
  add("cache_table", DType::kI64, {shape.num_streams, 2}, call);
  add("stream_table", DType::kI32, {shape.num_streams, 3}, call);
  add("row_stream", DType::kI32, {rows}, call);
  add("paths", DType::kI32, {rows, kMostDepth}, call);
  add("depths", DType::kI32, {rows}, call);
  add("tiles", DType::kI32, {shape.num_tiles, 2}, call);
}

void AttentionProblem::add_results() {
  const Shape& shape = tables_.shape;
  const std::int64_t rows = shape.num_rows;
  const std::int64_t groups = shape.num_groups;
  const std::int64_t runs = attention::num_runs_of(groups);
  const auto add =
      [&](std::string name, DType dtype, Role role, std::vector<std::int64_t> extents) {
        tensors_.push_back({.name = std::move(name),
                            .dtype = dtype,
                            .role = role,
                            .shape = std::move(extents),
                            .content_key = {}});
      };
  // States of each (unit, row, head): m, l and o.
  const auto add_states = [&](const std::string& name, Role role, std::vector<std::int64_t> units) {
    units.insert(units.end(), {rows, shape.num_heads});
    add(name + "_m", DType::kF32, role, units);
    add(name + "_l", DType::kF32, role, units);
    units.push_back(shape.dim);
    add(name + "_o", DType::kF32, role, units);
  };
  add("out", DType::kBF16, Role::kOutput, {rows, shape.num_heads, shape.dim});
  add("result", DType::kF32, Role::kIntermediate, {rows, shape.num_heads, shape.dim});
  add_states("partial", Role::kIntermediate, {groups});
  add_states("run", Role::kScratch, {runs});
  add_states("slice", Role::kScratch, {groups, attention::kSlices});
}

void AttentionProblem::fill_queries(std::uint16_t* values) const {
  const auto dim = static_cast<std::size_t>(plan_.dim);
  for (const StreamView& view : plan_.streams) {
    for (const std::int32_t row : view.rows) {
      for (std::int32_t head = 0; head < plan_.num_heads; ++head, values += dim) {
        fill_query(plan_, view.stream, row, head, std::span(values, dim));
      }
    }
  }
}

void AttentionProblem::fill_drafted(Tensor tensor, std::uint16_t* values) const {
  const auto fill = tensor == kKRows ? &fill_key : &fill_value;
  const auto dim = static_cast<std::size_t>(plan_.dim);
  for (const StreamView& view : plan_.streams) {
    for (const std::int32_t row : view.rows) {
      const KeyId key = {.stream = view.stream, .index = row, .is_drafted = true};
      for (std::int32_t head = 0; head < plan_.num_kv_heads; ++head, values += dim) {
        fill(plan_, key, head, std::span(values, dim));
      }
    }
  }
}

// Keys [first, last) of a stream's cache; `values` is the stream's first element.
void AttentionProblem::fill_keys(Tensor tensor,
                                 const StreamView& view,
                                 std::int64_t first,
                                 std::int64_t last,
                                 std::uint16_t* values) const {
  const auto fill = tensor == kKCache ? &fill_key : &fill_value;
  const auto dim = static_cast<std::size_t>(plan_.dim);
  const std::int64_t committed = plan_.whole[static_cast<std::size_t>(view.stream)].committed;
  values += first * plan_.num_kv_heads * plan_.dim;
  for (std::int64_t i = first; i < last; ++i) {
    KeyId key = {.stream = view.stream, .index = static_cast<std::int32_t>(i)};
    if (i >= committed) {
      key.index = view.accepted[static_cast<std::size_t>(i - committed)];
      key.is_drafted = true;
    }
    for (std::int32_t head = 0; head < plan_.num_kv_heads; ++head, values += dim) {
      fill(plan_, key, head, std::span(values, dim));
    }
  }
}

void AttentionProblem::fill_cache(Tensor tensor, std::uint16_t* values) const {
  const std::size_t column = tensor == kKCache ? 0 : 1;
  const std::int64_t per_key = std::int64_t{plan_.num_kv_heads} * plan_.dim;
  const auto fill_gap = [&](std::int64_t begin, std::int64_t end) {
    in_parallel((end - begin + kUnreadPerTask - 1) / kUnreadPerTask, [&](std::int64_t task) {
      const std::int64_t first = begin + task * kUnreadPerTask;
      const std::int64_t count = std::min(kUnreadPerTask, end - first);
      fill_unread(plan_, first, std::span(values + first, static_cast<std::size_t>(count)));
    });
  };
  fill_gap(0, plan_.base_offset);
  for (std::size_t i = 0; i < plan_.streams.size(); ++i) {
    const StreamView& view = plan_.streams[i];
    const std::int64_t offset = tables_.cache[i * 2 + column];
    const std::int64_t num_keys = plan_.committed_of(view);
    in_parallel((num_keys + kKeysPerTask - 1) / kKeysPerTask, [&](std::int64_t task) {
      const std::int64_t first = task * kKeysPerTask;
      fill_keys(tensor, view, first, std::min(first + kKeysPerTask, num_keys), values + offset);
    });
    const std::int64_t slack_begin = offset + num_keys * per_key;
    fill_gap(slack_begin, slack_begin + plan_.slack * per_key);
  }
}

void AttentionProblem::fill_input(std::size_t tensor, std::byte* bytes) const {
  auto* const values = reinterpret_cast<std::uint16_t*>(bytes);
  switch (tensor) {
    case kQ:
      return fill_queries(values);
    case kKRows:
    case kVRows:
      return fill_drafted(static_cast<Tensor>(tensor), values);
    case kKCache:
    case kVCache:
      return fill_cache(static_cast<Tensor>(tensor), values);
    case kCacheTable:
      return copy_table(tables_.cache, bytes);
    case kStreamTable:
      return copy_table(tables_.streams, bytes);
    case kRowStream:
      return copy_table(tables_.row_streams, bytes);
    case kPaths:
      return copy_table(tables_.paths, bytes);
    case kDepths:
      return copy_table(tables_.depths, bytes);
    default:
      return copy_table(tables_.tiles, bytes);
  }
}

std::vector<ElementRange> AttentionProblem::live(std::size_t tensor) const {
  if (tensor < kPartialM || tensor > kPartialO) {
    return {{.begin = 0, .end = num_elements(tensors_[tensor])}};
  }
  const Shape& shape = tables_.shape;
  const std::int64_t per_row =
      std::int64_t{shape.num_heads} * (tensor == kPartialO ? shape.dim : 1);
  std::vector<ElementRange> ranges;
  for (std::int64_t group = 0; group < shape.num_groups; ++group) {
    for (std::int32_t row = 0; row < shape.num_rows; ++row) {
      if (group * attention::kGroupKeys >= tables_.row_keys[static_cast<std::size_t>(row)]) {
        continue;
      }
      const std::int64_t begin = (group * shape.num_rows + row) * per_row;
      if (!ranges.empty() && ranges.back().end == begin) {
        ranges.back().end += per_row;
      } else {
        ranges.push_back({.begin = begin, .end = begin + per_row});
      }
    }
  }
  return ranges;
}

std::int64_t AttentionProblem::min_bytes() const {
  std::int64_t num_keys = 0;
  for (const StreamView& view : plan_.streams) {
    if (!view.rows.empty()) {
      num_keys += plan_.committed_of(view) + std::ssize(view.rows);
    }
  }
  const std::int64_t bytes_per_key = 2 * size_bytes(DType::kBF16) * plan_.num_kv_heads * plan_.dim;
  return num_keys * bytes_per_key + num_bytes(tensors_[kQ]) + num_bytes(tensors_[kOut]);
}

// A score and a value take 2 * dim each for every key that a row sees.
std::int64_t AttentionProblem::min_flops() const {
  const std::int64_t num_keys =
      std::accumulate(tables_.row_keys.begin(), tables_.row_keys.end(), std::int64_t{0});
  return 4 * std::int64_t{plan_.dim} * plan_.num_heads * num_keys;
}

}  // namespace

absl::Status validate(const Workload& workload) {
  return parse_plan(workload).status();
}

std::unique_ptr<Problem> make_problem(const Workload& workload) {
  return std::make_unique<AttentionProblem>(workload, *parse_plan(workload));
}

}  // namespace assay::kernels::tree_attention
