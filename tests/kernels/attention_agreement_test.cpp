// tree_attention and block_attention on the same numbers: a chain of drafted rows is a causal block
// without a window, and each of its rows is the row that a serial call would have computed.
#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/cpu_variants.h"
#include "kernels/block_attention/problem.h"
#include "kernels/tree_attention/contract.h"
#include "kernels/tree_attention/cpu_variants.h"
#include "kernels/tree_attention/problem.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace assay::kernels {
namespace {

namespace block = block_attention;
namespace tree = tree_attention;

struct Geometry {
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t dim = 0;
  std::int64_t context = 0;
  std::int64_t width = 0;
};

template <class MakeProblem>
CpuTensors make_filled(std::span<const AxisInfo> axes,
                       const std::vector<Setting>& given,
                       const MakeProblem& make_problem) {
  const Workload workload = {.axes = complete_settings(axes, given).value(), .seed = 3};
  CpuTensors tensors = {.problem = make_problem(workload), .bytes = {}};
  const std::span<const TensorSpec> specs = tensors.problem->tensors();
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto& bytes =
        tensors.bytes.emplace_back(static_cast<std::size_t>(num_bytes(specs[i])), kPoison);
    if (specs[i].role == Role::kInput) {
      tensors.problem->fill_input(i, bytes.data());
    }
  }
  return tensors;
}

std::vector<Setting> axes_of(const Geometry& geometry, std::vector<Setting> more) {
  more.insert(more.end(),
              {{"heads", std::to_string(geometry.heads)},
               {"kv_heads", std::to_string(geometry.kv_heads)},
               {"dim", std::to_string(geometry.dim)}});
  return more;
}

CpuTensors make_block(const Geometry& geometry) {
  return make_filled(block::axes(),
                     axes_of(geometry,
                             {{"context", std::to_string(geometry.context)},
                              {"width", std::to_string(geometry.width)},
                              {"window", "-1"},
                              {"causal", "yes"}}),
                     &block::make_problem);
}

std::int64_t table_entry(const CpuTensors& tensors, std::size_t tensor, std::int64_t index) {
  std::int64_t value = 0;
  std::memcpy(&value, tensors.bytes[tensor].data() + index * 8, sizeof(value));
  return value;
}

// Copies one head's row of bf16.
void copy_row(const CpuTensors& from,
              std::size_t from_tensor,
              std::int64_t from_element,
              CpuTensors& to,
              std::size_t to_tensor,
              std::int64_t to_element,
              std::int64_t dim) {
  std::memcpy(to.bytes[to_tensor].data() + to_element * 2,
              from.bytes[from_tensor].data() + from_element * 2,
              static_cast<std::size_t>(dim) * 2);
}

// A chain of the block's rows from `first` on, those before it committed: the block's own bytes.
CpuTensors make_chain(const Geometry& geometry,
                      const CpuTensors& source,
                      std::int64_t first,
                      std::int64_t num_rows) {
  const std::int64_t committed = geometry.context + first;
  CpuTensors chain = make_filled(tree::axes(),
                                 axes_of(geometry,
                                         {{"rows", std::to_string(num_rows)},
                                          {"committed", std::to_string(committed)},
                                          {"tree", "chain"},
                                          {"lengths", "equal"}}),
                                 &tree::make_problem);
  const std::int64_t dim = geometry.dim;
  for (std::int64_t row = 0; row < num_rows; ++row) {
    for (std::int64_t head = 0; head < geometry.heads; ++head) {
      const std::int64_t from = (head * geometry.width + first + row) * dim;
      copy_row(source, block::kQ, from, chain, tree::kQ, (row * geometry.heads + head) * dim, dim);
    }
  }
  const auto copy_keys = [&](std::size_t in_block,
                             std::size_t in_context,
                             std::int64_t column,
                             std::size_t to_rows,
                             std::size_t to_cache) {
    const std::int64_t from_offset = table_entry(source, block::kTable, column);
    const std::int64_t stride = table_entry(source, block::kTable, 2);
    const std::int64_t to_offset = table_entry(chain, tree::kCacheTable, column);
    for (std::int64_t head = 0; head < geometry.kv_heads; ++head) {
      for (std::int64_t key = 0; key < committed + num_rows; ++key) {
        const bool is_context = key < geometry.context;
        const std::int64_t from = is_context
                                      ? from_offset + head * stride + key * dim
                                      : (head * geometry.width + key - geometry.context) * dim;
        const bool is_committed = key < committed;
        const std::int64_t place = is_committed ? key : key - committed;
        const std::int64_t to = (place * geometry.kv_heads + head) * dim;
        copy_row(source,
                 is_context ? in_context : in_block,
                 from,
                 chain,
                 is_committed ? to_cache : to_rows,
                 is_committed ? to_offset + to : to,
                 dim);
      }
    }
  };
  copy_keys(block::kKBlock, block::kKContext, 0, tree::kKRows, tree::kKCache);
  copy_keys(block::kVBlock, block::kVContext, 1, tree::kVRows, tree::kVCache);
  return chain;
}

void run(std::span<const CpuVariant> variants, CpuTensors* tensors) {
  const CpuVariant& variant = variants.front();
  const absl::Status status =
      run_stages(variant.stages, make_parameters(variant.parameters, {}), tensors);
  ASSERT_TRUE(status.ok()) << status;
}

void expect_equal(const CpuTensors& a,
                  std::size_t in_a,
                  std::int64_t begin_a,
                  const CpuTensors& b,
                  std::size_t in_b,
                  std::int64_t begin_b,
                  std::int64_t count) {
  const std::int64_t size = size_bytes(a.problem->tensors()[in_a].dtype);
  ASSERT_EQ(size, size_bytes(b.problem->tensors()[in_b].dtype));
  ASSERT_LE((begin_a + count) * size, std::ssize(a.bytes[in_a]));
  ASSERT_LE((begin_b + count) * size, std::ssize(b.bytes[in_b]));
  EXPECT_EQ(std::memcmp(a.bytes[in_a].data() + begin_a * size,
                        b.bytes[in_b].data() + begin_b * size,
                        static_cast<std::size_t>(count * size)),
            0)
      << a.problem->tensors()[in_a].name;
}

constexpr std::pair<std::size_t, std::size_t> kResults[] = {
    {block::kOut, tree::kOut},
    {block::kResult, tree::kResult},
};
constexpr std::pair<std::size_t, std::size_t> kPartials[] = {
    {block::kPartialM, tree::kPartialM},
    {block::kPartialL, tree::kPartialL},
    {block::kPartialO, tree::kPartialO},
};

// Rows [first, first + num_rows) of the block against the chain's rows.
void expect_rows_agree(const Geometry& geometry,
                       const CpuTensors& source,
                       const CpuTensors& chain,
                       std::int64_t first,
                       std::int64_t num_rows) {
  const std::int64_t per_row = geometry.heads * geometry.dim;
  for (const auto& [in_block, in_tree] : kResults) {
    expect_equal(source, in_block, first * per_row, chain, in_tree, 0, num_rows * per_row);
  }
  for (const auto& [in_block, in_tree] : kPartials) {
    const std::int64_t state = in_block == block::kPartialO ? per_row : geometry.heads;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      const std::int64_t num_groups = attention::num_groups_of(geometry.context + first + row + 1);
      for (std::int64_t group = 0; group < num_groups; ++group) {
        expect_equal(source,
                     in_block,
                     (group * geometry.width + first + row) * state,
                     chain,
                     in_tree,
                     (group * num_rows + row) * state,
                     state);
      }
    }
  }
}

constexpr Geometry kGeometries[] = {
    {.heads = 4, .kv_heads = 2, .dim = 128, .context = 0, .width = 2},
    {.heads = 12, .kv_heads = 1, .dim = 128, .context = 120, .width = 16},
    {.heads = 6, .kv_heads = 1, .dim = 256, .context = 505, .width = 16},
    {.heads = 12, .kv_heads = 2, .dim = 128, .context = 511, .width = 7},
    {.heads = 6, .kv_heads = 2, .dim = 256, .context = 512, .width = 5},
    {.heads = 12, .kv_heads = 2, .dim = 128, .context = 1'020, .width = 9},
    {.heads = 5, .kv_heads = 1, .dim = 128, .context = 4'090, .width = 8},
};

TEST(AttentionAgreement, AChainIsACausalBlock) {
  for (const Geometry& geometry : kGeometries) {
    SCOPED_TRACE(geometry.context);
    CpuTensors source = make_block(geometry);
    CpuTensors chain = make_chain(geometry, source, 0, geometry.width);
    run(block::cpu_variants(), &source);
    run(tree::cpu_variants(), &chain);
    expect_rows_agree(geometry, source, chain, 0, geometry.width);
  }
}

TEST(AttentionAgreement, ADraftedRowIsTheSerialRow) {
  for (const Geometry& geometry : kGeometries) {
    CpuTensors source = make_block(geometry);
    run(block::cpu_variants(), &source);
    for (const std::int64_t row : {std::int64_t{0}, geometry.width / 2, geometry.width - 1}) {
      SCOPED_TRACE(geometry.context + row);
      CpuTensors serial = make_chain(geometry, source, row, 1);
      run(tree::cpu_variants(), &serial);
      expect_rows_agree(geometry, source, serial, row, 1);
    }
  }
}

// What the two tests rest on: other numbers give other bits.
TEST(AttentionAgreement, AKeyThatDiffersShows) {
  const Geometry geometry = kGeometries[3];
  CpuTensors source = make_block(geometry);
  CpuTensors chain = make_chain(geometry, source, 0, geometry.width);
  run(block::cpu_variants(), &source);
  chain.bytes[tree::kVRows][0] ^= std::byte{0x40};
  run(tree::cpu_variants(), &chain);
  EXPECT_NE(std::memcmp(source.bytes[block::kResult].data(),
                        chain.bytes[tree::kResult].data(),
                        static_cast<std::size_t>(geometry.heads * geometry.dim) * 4),
            0);
}

}  // namespace
}  // namespace assay::kernels
