#include "kernels/qsa_decode/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

namespace assay::kernels::qsa_decode {
namespace {

struct Made {
  SelectionPlan plan;
  Selection selection;

  std::vector<std::int32_t> cells(std::int32_t query) const {
    const auto begin = selection.ids.begin() + std::int64_t{query} * plan.shape.cap;
    const std::int32_t width = selection.widths[static_cast<std::size_t>(query)];
    return {begin, begin + std::min(width, plan.shape.cap)};
  }
};

Made make(std::vector<Setting> axes, std::uint64_t seed = 1) {
  Made made;
  made.plan = parse_selection({.axes = std::move(axes), .seed = seed}).value();
  made.selection = make_selection(made.plan, seed);
  return made;
}

TEST(Selection, NamesCellsOfTheTableOnlyAndPadsWithCellZero) {
  for (const std::string_view pattern : {"window", "blocks", "gaps", "repeats", "mixed"}) {
    const Made made = make({{"select", std::string(pattern)}, {"n_q", "5"}, {"streams", "7"}});
    const std::int64_t num_cells =
        std::int64_t{made.plan.shape.num_logical_pages} * made.plan.shape.page_size;
    for (const std::int32_t cell : made.selection.ids) {
      ASSERT_GE(cell, 0);
      ASSERT_LT(cell, num_cells);
    }
    EXPECT_EQ(made.selection.ids.back(), 0);
  }
}

TEST(Selection, AscendsWithoutRepeatsExceptWhereAskedTo) {
  for (const std::string_view pattern : {"window", "blocks", "gaps"}) {
    const std::vector<std::int32_t> cells = make({{"select", std::string(pattern)}}).cells(0);
    EXPECT_EQ(std::ranges::adjacent_find(cells, std::greater_equal()), cells.end()) << pattern;
  }
  const std::vector<std::int32_t> repeats = make({{"select", "repeats"}}).cells(0);
  EXPECT_LT(std::set<std::int32_t>(repeats.begin(), repeats.end()).size(), repeats.size());
  EXPECT_FALSE(std::ranges::is_sorted(repeats));
}

TEST(Selection, BlocksAreWholeUntilTheTail) {
  const std::vector<std::int32_t> cells = make({{"select", "blocks"}, {"width", "2051"}}).cells(0);
  for (std::size_t i = 0; i + 4 <= cells.size(); i += 4) {
    EXPECT_EQ(cells[i] % 4, 0);
    EXPECT_EQ(cells[i + 3], cells[i] + 3);
  }
}

TEST(Selection, SharesOrSeparatesTheQueriesOfAStream) {
  const Made shared = make({{"n_q", "3"}, {"sharing", "shared"}, {"select", "gaps"}});
  EXPECT_EQ(shared.cells(0), shared.cells(2));
  const Made disjoint = make({{"n_q", "3"}, {"sharing", "disjoint"}, {"select", "gaps"}});
  std::set<std::int32_t> all;
  for (std::int32_t query = 0; query < 3; ++query) {
    const std::vector<std::int32_t> cells = disjoint.cells(query);
    all.insert(cells.begin(), cells.end());
  }
  EXPECT_EQ(all.size(), 3U * 2'051U);
}

TEST(Selection, MasksOneCellAtEachPlaceOfAChunk) {
  const Made made =
      make({{"width", "4096"}, {"cap", "4096"}, {"page_size", "1"}, {"resident", "cells"}});
  std::set<std::size_t> places;
  const std::vector<std::int32_t> cells = made.cells(0);
  for (std::size_t entry = 0; entry < cells.size(); ++entry) {
    if (!made.selection.is_resident[static_cast<std::size_t>(cells[entry])]) {
      places.insert(entry % kChunk);
    }
  }
  EXPECT_EQ(places.size(), 64U);
}

TEST(Selection, HolesLeaveOneInThirtyTwoAndARunOfSixtyFourPages) {
  const Made made = make({{"resident", "holes"}});
  const std::vector<bool>& is_resident = made.selection.is_resident;
  const auto num_missing = std::ranges::count(is_resident, false);
  EXPECT_NEAR(static_cast<double>(num_missing), 64 + 10'176 / 32.0, 60.0);
  for (std::size_t page = 2'048; page < 2'112; ++page) {
    EXPECT_FALSE(is_resident[page]);
  }
}

TEST(Selection, PermutesThePages) {
  const Made made = make({});
  std::vector<std::int32_t> pages = made.selection.physical_page;
  EXPECT_FALSE(std::ranges::is_sorted(pages));
  std::ranges::sort(pages);
  for (std::size_t page = 0; page < pages.size(); ++page) {
    ASSERT_EQ(pages[page], static_cast<std::int32_t>(page));
  }
}

TEST(Selection, SpreadsWidths) {
  const auto widths = [](std::string_view spread) {
    return make({{"n_q", "4"}, {"width", "1024"}, {"spread", std::string(spread)}})
        .selection.widths;
  };
  EXPECT_EQ(widths("uniform"), (std::vector<std::int32_t>{1'024, 1'024, 1'024, 1'024}));
  EXPECT_EQ(widths("falling"), (std::vector<std::int32_t>{1'024, 512, 256, 128}));
  EXPECT_EQ(widths("borders"), (std::vector<std::int32_t>{63, 1'024, 65, 1'024}));
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
