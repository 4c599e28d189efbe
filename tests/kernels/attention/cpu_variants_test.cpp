#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/operator.h"
#include "kernels/inputs.h"
#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/operator.h"
#include "tests/kernels/attention/naive_attention.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace assay::kernels {
namespace {

using attention::naive_attention;
using attention::NaiveRow;

const Operator& tree() {
  return tree_attention::tree_attention();
}

const Operator& block() {
  return block_attention::block_attention();
}

bool has_avx2(const Operator& op) {
  const CpuVariant& row = op.cpu_variants[0];
  return row.available(make_parameters(row.parameters, {{"isa", "avx2"}})).ok();
}

template <class T>
const T* tensor(const CpuTensors& tensors, std::size_t place) {
  return reinterpret_cast<const T*>(tensors.bytes[place].data());
}

// Portable arithmetic and float64 references of large calls are slow under a sanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

std::vector<std::string> isas(const Operator& op) {
  if (!has_avx2(op)) {
    return {"portable"};
  }
  return kIsSanitized ? std::vector<std::string>{"avx2"}
                      : std::vector<std::string>{"portable", "avx2"};
}

// Where a row's states lie.
struct RowPlace {
  std::int64_t state = 0;   // of group 0, in m and l
  std::int64_t stride = 0;  // from group to group
  std::int64_t dim = 0;
};

// The name of what differs from the naive row; empty: nothing.
template <class Places>
std::string difference(const CpuTensors& found, const NaiveRow& row, const RowPlace& place) {
  const auto differs = [](const auto& expected, const auto* values) {
    return std::memcmp(expected.data(), values, expected.size() * sizeof(expected.front())) != 0;
  };
  for (std::size_t group = 0; group < row.groups.size(); ++group) {
    const attention::NaiveState& state = row.groups[group];
    const std::int64_t at = place.state + static_cast<std::int64_t>(group) * place.stride;
    if (state.l != 0.0F &&
        (std::memcmp(&state.m, tensor<float>(found, Places::kPartialM) + at, 4) != 0 ||
         std::memcmp(&state.l, tensor<float>(found, Places::kPartialL) + at, 4) != 0 ||
         differs(state.o, tensor<float>(found, Places::kPartialO) + at * place.dim))) {
      return "group " + std::to_string(group);
    }
  }
  if (differs(row.result, tensor<float>(found, Places::kResult) + place.state * place.dim)) {
    return "result";
  }
  return differs(row.out, tensor<std::uint16_t>(found, Places::kOut) + place.state * place.dim)
             ? "out"
             : "";
}

struct TreePlaces {
  static constexpr std::size_t kOut = tree_attention::kOut;
  static constexpr std::size_t kResult = tree_attention::kResult;
  static constexpr std::size_t kPartialM = tree_attention::kPartialM;
  static constexpr std::size_t kPartialL = tree_attention::kPartialL;
  static constexpr std::size_t kPartialO = tree_attention::kPartialO;
};

struct BlockPlaces {
  static constexpr std::size_t kOut = block_attention::kOut;
  static constexpr std::size_t kResult = block_attention::kResult;
  static constexpr std::size_t kPartialM = block_attention::kPartialM;
  static constexpr std::size_t kPartialL = block_attention::kPartialL;
  static constexpr std::size_t kPartialO = block_attention::kPartialO;
};

// Straight from the tables, for each row and head.
std::string tree_difference(const CpuTensors& found) {
  using namespace tree_attention;
  const Shape& shape = static_cast<const TreeProblem&>(*found.problem).shape();
  const std::int64_t dim = shape.dim;
  for (std::int64_t row = 0; row < shape.num_rows; ++row) {
    const std::int64_t stream = tensor<std::int32_t>(found, kRowStream)[row];
    const std::int32_t committed = tensor<std::int32_t>(found, kStreamTable)[stream * 3 + 2];
    const std::int32_t depth = tensor<std::int32_t>(found, kDepths)[row];
    for (std::int64_t head = 0; head < shape.num_heads; ++head) {
      const std::int64_t kv_head = head / shape.group();
      const auto row_at = [&](Tensor cache, Tensor rows, int which) {
        return [=, &found](std::int32_t position) {
          const std::int64_t offset = tensor<std::int64_t>(found, kCacheTable)[stream * 2 + which];
          if (position < committed) {
            return tensor<std::uint16_t>(found, cache) + offset +
                   (position * shape.num_kv_heads + kv_head) * dim;
          }
          const std::int64_t ancestor =
              tensor<std::int32_t>(found, kPaths)[row * kMostDepth + position - committed];
          return tensor<std::uint16_t>(found, rows) +
                 (ancestor * shape.num_kv_heads + kv_head) * dim;
        };
      };
      const std::int64_t state = row * shape.num_heads + head;
      const auto* q = tensor<std::uint16_t>(found, kQ) + state * dim;
      const NaiveRow naive = naive_attention(std::vector<std::uint16_t>(q, q + dim),
                                             shape.scale,
                                             0,
                                             committed + depth,
                                             row_at(kKCache, kKRows, 0),
                                             row_at(kVCache, kVRows, 1));
      const std::string what = difference<TreePlaces>(
          found, naive, {.state = state, .stride = shape.num_rows * shape.num_heads, .dim = dim});
      if (!what.empty()) {
        return "row " + std::to_string(row) + ", head " + std::to_string(head) + ": " + what;
      }
    }
  }
  return "";
}

std::string block_difference(const CpuTensors& found) {
  using namespace block_attention;
  const Shape& shape = static_cast<const BlockProblem&>(*found.problem).shape();
  const std::int64_t dim = shape.dim;
  for (std::int64_t row = 0; row < shape.num_rows(); ++row) {
    const std::int64_t stream = row / shape.width;
    const std::int64_t local = row % shape.width;
    const std::int64_t context = tensor<std::int32_t>(found, kLengths)[stream];
    // From the definition: context keys within the window, then the block.
    std::int64_t begin = 0;
    while (begin < context && context + local - begin > shape.window) {
      ++begin;
    }
    const std::int64_t end = context + (shape.is_causal ? local + 1 : shape.width);
    const std::int64_t* entry = tensor<std::int64_t>(found, kTable) + stream * 3;
    for (std::int64_t head = 0; head < shape.num_heads; ++head) {
      const std::int64_t kv_head = head / shape.group();
      const auto row_at = [&](Tensor contexts, Tensor blocks, int which) {
        return [=, &found](std::int32_t position) {
          if (position < context) {
            return tensor<std::uint16_t>(found, contexts) + entry[which] + kv_head * entry[2] +
                   position * dim;
          }
          return tensor<std::uint16_t>(found, blocks) +
                 (kv_head * shape.num_rows() + stream * shape.width + position - context) * dim;
        };
      };
      const auto* q = tensor<std::uint16_t>(found, kQ) + (head * shape.num_rows() + row) * dim;
      const NaiveRow naive = naive_attention(std::vector<std::uint16_t>(q, q + dim),
                                             shape.scale,
                                             static_cast<std::int32_t>(begin),
                                             static_cast<std::int32_t>(end),
                                             row_at(kKContext, kKBlock, 0),
                                             row_at(kVContext, kVBlock, 1));
      const std::string what =
          difference<BlockPlaces>(found,
                                  naive,
                                  {.state = row * shape.num_heads + head,
                                   .stride = std::int64_t{shape.num_rows()} * shape.num_heads,
                                   .dim = dim});
      if (!what.empty()) {
        return "row " + std::to_string(row) + ", head " + std::to_string(head) + ": " + what;
      }
    }
  }
  return "";
}

struct Shape {
  const Operator* op;
  std::string (*difference)(const CpuTensors& found);
  std::vector<Setting> axes;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {&tree(), &tree_difference, {{"heads", "6"}, {"kv_heads", "2"}, {"committed", "0"}}},
      {&tree(),
       &tree_difference,
       {{"heads", "4"}, {"kv_heads", "2"}, {"rows", "20"}, {"committed", "508"}, {"streams", "2"}}},
      {&tree(),
       &tree_difference,
       {{"heads", "6"},
        {"kv_heads", "1"},
        {"dim", "256"},
        {"rows", "12"},
        {"tree", "random"},
        {"committed", "1029"},
        {"unread", "inf"}}},
      {&tree(), &tree_difference, {{"heads", "1"}, {"kv_heads", "1"}, {"committed", "4099"}}},
      {&block(),
       &block_difference,
       {{"heads", "4"}, {"kv_heads", "2"}, {"context", "0"}, {"causal", "yes"}}},
      {&block(),
       &block_difference,
       {{"heads", "4"},
        {"kv_heads", "1"},
        {"streams", "3"},
        {"lengths", "edges"},
        {"context", "700"},
        {"window", "130"},
        {"slack", "9"},
        {"unread", "inf"}}},
      {&block(),
       &block_difference,
       {{"heads", "3"},
        {"kv_heads", "1"},
        {"dim", "256"},
        {"width", "16"},
        {"context", "1030"},
        {"window", "517"},
        {"causal", "yes"}}},
  };
  return all;
}

std::string text_of(const Shape& shape) {
  std::string text(shape.op->name);
  for (const auto& [name, value] : shape.axes) {
    text += " " + name + "=" + value;
  }
  return text;
}

// ---- Refusals ----

TEST(AttentionCpuVariants, RefuseTablesThatLeadOutsideTheirTensors) {
  const auto status_with = [](const Operator& op, std::size_t place, std::size_t at, auto value) {
    CpuTensors tensors = make_tensors(op, make_workload(op, {{"heads", "4"}, {"kv_heads", "2"}}));
    std::memcpy(tensors.bytes[place].data() + at * sizeof(value), &value, sizeof(value));
    const CpuVariant& row = op.cpu_variants[0];
    const absl::Status status =
        run_stages(row.stages, make_parameters(row.parameters, {}), &tensors);
    const std::size_t out =
        &op == &tree() ? std::size_t{tree_attention::kOut} : std::size_t{block_attention::kOut};
    EXPECT_EQ(tensors.bytes[out].front(), kPoison);
    return std::string(status.message());
  };
  EXPECT_EQ(status_with(tree(), tree_attention::kRowStream, 3, std::int32_t{1}),
            "row_stream[3]: stream 1 of 1");
  EXPECT_EQ(status_with(tree(), tree_attention::kDepths, 2, std::int32_t{129}),
            "depths[2]: 129 is not in [1, 128]");
  EXPECT_EQ(status_with(tree(), tree_attention::kPaths, 129, std::int32_t{8}),
            "paths[1, 1]: row 8 of 8");
  EXPECT_EQ(status_with(tree(), tree_attention::kStreamTable, 0, std::int32_t{1}),
            "stream_table[0]: rows 1 and 8 more do not follow row 0 within 8");
  EXPECT_EQ(status_with(tree(), tree_attention::kStreamTable, 2, std::int32_t{-1}),
            "stream_table[0, 2]: -1 committed keys");
  EXPECT_NE(status_with(tree(), tree_attention::kCacheTable, 1, std::int64_t{1} << 40), "");
  EXPECT_NE(status_with(block(), block_attention::kLengths, 0, std::int32_t{-1}), "");
  EXPECT_NE(status_with(block(), block_attention::kLengths, 0, std::int32_t{1'000'000}), "");
  EXPECT_NE(status_with(block(), block_attention::kTable, 0, std::int64_t{1} << 40), "");
  EXPECT_NE(status_with(block(), block_attention::kTable, 2, std::int64_t{12}), "");
}

// ---- Bits ----

TEST(AttentionCpuVariants, EqualTheNaiveFormStraightFromTheTables) {
  for (const Shape& shape : shapes()) {
    const CpuTensors found =
        run_variant(*shape.op, make_workload(*shape.op, shape.axes), "model_sm_90", {});
    ASSERT_FALSE(found.bytes.empty()) << text_of(shape);
    EXPECT_EQ(shape.difference(found), "") << text_of(shape);
  }
}

TEST(AttentionCpuVariants, GiveTheSameBitsWhateverTheLaunchParameters) {
  for (const Shape& shape : shapes()) {
    CpuTensors tensors = make_tensors(*shape.op, make_workload(*shape.op, shape.axes));
    for (const std::string_view variant : {"model_sm_90", "fp32"}) {
      const CpuTensors first = run_variant_on(*shape.op, &tensors, variant, {});
      std::vector<std::vector<Setting>> others = {
          {{"threads", "1"}, {"pairs_per_tile", "4"}, {"merge_batch", "1"}},
          {{"threads", "3"}, {"pairs_per_tile", "64"}, {"merge_batch", "2"}},
          {{"isa", isas(*shape.op).front()}, {"pairs_per_tile", "16"}, {"merge_batch", "4"}}};
      for (const std::vector<Setting>& parameters : others) {
        EXPECT_EQ(first_difference(first, run_variant_on(*shape.op, &tensors, variant, parameters)),
                  "")
            << text_of(shape) << ", " << variant << " " << parameters.front().second;
      }
    }
  }
}

TEST(AttentionCpuVariants, StayWithinTheToleranceOfTheReference) {
  for (const Shape& shape : shapes()) {
    const Workload workload = make_workload(*shape.op, shape.axes);
    for (const std::string_view variant : {"model_sm_90", "fp32"}) {
      const double share = tolerance_used(run_variant(*shape.op, workload, variant, {}));
      EXPECT_LT(share, shape.op->tolerance_alarm) << text_of(shape) << ", " << variant;
      EXPECT_GT(share, 0.0) << text_of(shape) << ", " << variant;
    }
  }
}

TEST(AttentionCpuVariants, MakeNothingOfACallWithoutRowsOrStreams) {
  for (const auto& [op, axes] :
       {std::pair{&tree(), std::vector<Setting>{{"streams", "0"}}},
        std::pair{&tree(), std::vector<Setting>{{"streams", "2"}, {"rows", "0"}}},
        std::pair{&block(), std::vector<Setting>{{"streams", "0"}}}}) {
    CpuTensors tensors = make_tensors(*op, make_workload(*op, axes));
    const CpuVariant& row = op->cpu_variants[0];
    EXPECT_TRUE(run_stages(row.stages, make_parameters(row.parameters, {}), &tensors).ok());
  }
}

TEST(AttentionCpuVariants, TellWhichKernelsRan) {
  for (const Operator* op : {&tree(), &block()}) {
    CpuTensors tensors = make_tensors(
        *op,
        make_workload(*op, shapes().front().op == op ? shapes().front().axes : shapes()[4].axes));
    const CpuVariant& row = op->cpu_variants[1];
    Trace trace;
    const LaunchParameters parameters = make_parameters(row.parameters, {{"isa", "portable"}});
    ASSERT_TRUE(run_stages(row.stages, parameters, &tensors, &trace).ok());
    EXPECT_EQ(trace.kernels, (std::vector<std::string>{"fp32_attend_portable", "merge_portable"}));
  }
}

// ---- Mutants ----

TEST(AttentionCpuMutants, EachDiffersFromTheBaselineOnItsWorkload) {
  EXPECT_EQ(tree().cpu_mutants.size(), 14U);
  EXPECT_EQ(block().cpu_mutants.size(), 9U);
  for (const Operator* op : {&tree(), &block()}) {
    for (const CpuMutant& mutant : op->cpu_mutants) {
      std::vector<Setting> axes;
      for (const auto& [name, value] : mutant.axes) {
        axes.emplace_back(std::string(name), std::string(value));
      }
      const Workload workload = make_workload(*op, axes);
      ASSERT_TRUE(op->validate(workload).ok()) << op->name << " " << mutant.name;
      const CpuTensors baseline = run_variant(*op, workload, mutant.variant, {});
      if (!kIsSanitized) {
        EXPECT_LT(tolerance_used(baseline), op->tolerance_alarm) << op->name << " " << mutant.name;
      }
      for (const std::string& isa : isas(*op)) {
        CpuTensors tensors = make_tensors(*op, workload);
        const absl::Status status =
            run_stages(mutant.stages, make_parameters(mutant.parameters, {{"isa", isa}}), &tensors);
        ASSERT_TRUE(status.ok()) << op->name << " " << mutant.name << ": " << status.message();
        EXPECT_NE(first_difference(baseline, tensors), "") << op->name << " " << mutant.name;
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
