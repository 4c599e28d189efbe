#include "kernels/tree_attention/trees.h"

#include "kernels/inputs.h"

#include <algorithm>
#include <array>

namespace assay::kernels::tree_attention {
namespace {

constexpr std::int32_t kLevelWidth = 10;
constexpr std::int32_t kForestTrees = 3;

struct Lengths {
  std::int32_t rows;
  std::int32_t committed;
};

constexpr std::array<Lengths, 9> kMixed = {
    {{1, 0}, {16, 1}, {7, 100}, {2, 512}, {9, 513}, {13, 1'300}, {5, 2'600}, {16, 511}, {3, 100}}};
constexpr std::array<std::int32_t, 4> kLadderDivisors = {256, 32, 4, 1};
constexpr std::array<std::int32_t, 5> kEdgeSteps = {-8, -1, 0, 1, 511};
constexpr std::array<Lengths, 12> kNeighbours = {{{1, 0},
                                                  {128, 1},
                                                  {31, 511},
                                                  {32, 512},
                                                  {33, 513},
                                                  {0, 700},
                                                  {63, 100},
                                                  {64, 0},
                                                  {65, 100},
                                                  {17, 1'300},
                                                  {2, 2'600},
                                                  {1, 20'000}}};

template <class Table>
auto in_turn(const Table& table, std::int32_t number) {
  return table[static_cast<std::size_t>(number) % table.size()];
}

Lengths lengths_of(const StreamAxes& axes, std::int32_t stream) {
  switch (axes.lengths) {
    case LengthKind::kLadder:
      return {axes.rows, axes.committed / in_turn(kLadderDivisors, stream)};
    case LengthKind::kMixed: {
      const Lengths kind = in_turn(kMixed, stream);
      return {std::min(axes.rows, kind.rows), std::min(axes.committed, kind.committed)};
    }
    case LengthKind::kAlternating:
      return {axes.rows, stream % 2 == 0 ? axes.committed : 0};
    case LengthKind::kEdges:
      return {axes.rows, std::max(0, axes.committed + in_turn(kEdgeSteps, stream))};
    case LengthKind::kNeighbours:
      if (stream > 0) {
        return in_turn(kNeighbours, axes.pick + stream - 1);
      }
      [[fallthrough]];
    case LengthKind::kEqual:
      break;
  }
  return {axes.rows, axes.committed};
}

std::int32_t parent_of(TreeKind kind, std::int32_t row, std::uint64_t key) {
  const auto index = static_cast<std::uint64_t>(row);
  switch (kind) {
    case TreeKind::kChain:
      return row - 1;
    case TreeKind::kStar:
      return row == 0 ? -1 : 0;
    case TreeKind::kBinary:
      return row == 0 ? -1 : (row - 1) / 2;
    case TreeKind::kRandom:
      return static_cast<std::int32_t>(random_below(key, index, index + 1)) - 1;
    case TreeKind::kForest:
      return std::max(-1, row - kForestTrees);
    case TreeKind::kLevels: {
      if (row <= kLevelWidth) {
        return row == 0 ? -1 : 0;
      }
      const std::int32_t level_begin = (row - 1) / kLevelWidth * kLevelWidth + 1;
      return level_begin - kLevelWidth +
             static_cast<std::int32_t>(random_below(key, index, kLevelWidth));
    }
    case TreeKind::kRoots:
      break;
  }
  return -1;
}

}  // namespace

std::vector<Stream> make_streams(const StreamAxes& axes, std::uint64_t seed) {
  std::vector<Stream> streams(static_cast<std::size_t>(axes.num_streams));
  for (std::int32_t number = 0; number < axes.num_streams; ++number) {
    const Lengths lengths = lengths_of(axes, number);
    const std::uint64_t key =
        random_word(make_key(seed, "parents"), static_cast<std::uint64_t>(number));
    Stream& stream = streams[static_cast<std::size_t>(number)];
    stream.committed = lengths.committed;
    for (std::int32_t row = 0; row < lengths.rows; ++row) {
      stream.parents.push_back(parent_of(axes.tree, row, key));
    }
  }
  return streams;
}

}  // namespace assay::kernels::tree_attention
