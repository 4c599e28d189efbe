#include "kernels/tree_attention/contract.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

std::string message_of(std::span<const std::int32_t> parents) {
  const absl::Status status = make_paths(parents, 0).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

std::vector<std::int32_t> chain(std::size_t rows) {
  std::vector<std::int32_t> parents(rows);
  std::iota(parents.begin(), parents.end(), -1);
  return parents;
}

TEST(MakePaths, RefusesAnEmptyStream) {
  EXPECT_EQ(message_of({}), "parents: the stream has no rows");
}

TEST(MakePaths, RefusesAParentThatIsNotBeforeItsChild) {
  EXPECT_EQ(message_of(std::array{-1, 2, 0}), "parents[1]: 2 is not before the row itself");
  EXPECT_EQ(message_of(std::array{-1, 1}), "parents[1]: 1 is not before the row itself");
  EXPECT_EQ(message_of(std::array{0}), "parents[0]: 0 is not before the row itself");
}

TEST(MakePaths, RefusesACycle) {
  EXPECT_EQ(message_of(std::array{1, 0}), "parents[0]: 1 is not before the row itself");
}

TEST(MakePaths, RefusesAParentBelowTheMarkOfARoot) {
  EXPECT_EQ(message_of(std::array{-1, -2}), "parents[1]: -2 is below -1, which marks a root");
}

TEST(MakePaths, RefusesAPathDeeperThan128) {
  EXPECT_EQ(message_of(chain(129)), "parents[128]: the path is 129 deep, at most 128 are allowed");
  EXPECT_TRUE(make_paths(chain(128), 0).ok());
}

TEST(MakePaths, ListsGlobalRowsFromTheRootToTheRowItself) {
  // 0 - 1 - 3, 0 - 2, and a second root 4 - 5.
  const Paths made = make_paths(std::array{-1, 0, 0, 1, -1, 4}, 100).value();
  EXPECT_EQ(made.depths, (std::vector<std::int32_t>{1, 2, 2, 3, 1, 2}));
  const auto path = [&](std::size_t row) {
    const auto begin = made.paths.begin() + static_cast<std::ptrdiff_t>(row) * kMostDepth;
    return std::vector<std::int32_t>(begin, begin + kMostDepth);
  };
  const auto filled = [](std::vector<std::int32_t> rows) {
    rows.resize(kMostDepth, -1);
    return rows;
  };
  EXPECT_EQ(path(0), filled({100}));
  EXPECT_EQ(path(2), filled({100, 102}));
  EXPECT_EQ(path(3), filled({100, 101, 103}));
  EXPECT_EQ(path(5), filled({104, 105}));
}

TEST(MakePaths, FillsAPathOf128Rows) {
  const Paths made = make_paths(chain(128), 7).value();
  EXPECT_EQ(made.depths.back(), 128);
  EXPECT_EQ(made.paths.back(), 7 + 127);
  EXPECT_EQ(made.paths[made.paths.size() - 128], 7);
}

}  // namespace
}  // namespace assay::kernels::tree_attention
