#include "kernels/block_attention/problem.h"

#include "tests/kernels/block_attention/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace assay::kernels::block_attention {
namespace {

std::vector<Setting> small(std::vector<Setting> axes) {
  axes.emplace_back("heads", "4");
  axes.emplace_back("kv_heads", "2");
  return axes;
}

TEST(Problem, RefusesWhatTheAxesForbid) {
  EXPECT_TRUE(absl::IsInvalidArgument(validate(workload_of({{"heads", "12"}}))));
  EXPECT_TRUE(absl::IsInvalidArgument(validate(workload_of({{"base_offset", "9"}}))));
  EXPECT_TRUE(validate(workload_of({{"streams", "0"}})).ok());
}

TEST(Problem, HasTheTensorsOfTheContract) {
  const auto problem = make_problem(workload_of({{"streams", "2"}, {"context", "5000"}}));
  const std::span<const TensorSpec> tensors = problem->tensors();
  ASSERT_EQ(tensors.size(), kNumTensors);
  const auto shape = [&](Tensor tensor) { return tensors[tensor].shape; };
  using Extents = std::vector<std::int64_t>;
  EXPECT_EQ(shape(kQ), (Extents{32, 16, 128}));
  EXPECT_EQ(shape(kVBlock), (Extents{8, 16, 128}));
  EXPECT_EQ(shape(kKContext), (Extents{2 * 8 * 5'000 * 128}));
  EXPECT_EQ(shape(kTable), (Extents{2, 3}));
  EXPECT_EQ(shape(kOut), (Extents{16, 32 * 128}));
  EXPECT_EQ(shape(kPartialM), (Extents{10, 16, 32}));
  EXPECT_EQ(shape(kPartialO), (Extents{10, 16, 32, 128}));
  EXPECT_EQ(shape(kRunO), (Extents{2, 16, 32, 128}));
  EXPECT_EQ(shape(kSliceO), (Extents{40, 16, 32, 128}));
  EXPECT_EQ(tensors[kOut].role, Role::kOutput);
  EXPECT_EQ(tensors[kResult].role, Role::kIntermediate);
  EXPECT_EQ(tensors[kRunM].role, Role::kScratch);
  EXPECT_EQ(tensors[kSliceM].role, Role::kScratch);
}

TEST(Problem, OfNoStreamsHasNothingAliveAndMovesNothing) {
  const Inputs inputs = make_inputs(workload_of({{"streams", "0"}}));
  for (const Tensor tensor : {kOut, kResult, kPartialM, kPartialO}) {
    EXPECT_EQ(num_elements(inputs.problem->tensors()[tensor]), 0);
    EXPECT_TRUE(inputs.problem->live(tensor).empty());
  }
  EXPECT_EQ(inputs.problem->min_bytes(), 0);
  EXPECT_TRUE(inputs.problem->reference(kOut).values.empty());
}

// Every place of the buffers: the keys of some row's window are numbers, all else is not.
TEST(Problem, FillsWhatNoRowSeesWithNan) {
  const Inputs inputs = make_inputs(workload_of(small({{"streams", "3"},
                                                       {"lengths", "edges"},
                                                       {"first_stream", "1"},
                                                       {"context", "60"},
                                                       {"window", "20"},
                                                       {"slack", "4"},
                                                       {"base_offset", "16"}})));
  std::int64_t num_numbers = 0;
  const std::int64_t size = num_elements(inputs.problem->tensors()[kKContext]);
  for (std::int64_t i = 0; i < size; ++i) {
    num_numbers += std::isnan(inputs.half(kKContext, i)) ? 0 : 1;
  }
  EXPECT_EQ(num_numbers, (7 + 20 + 20) * 2 * 128);
  for (std::int64_t stream = 0; stream < 3; ++stream) {
    const std::int64_t n = inputs.context(stream);
    for (std::int64_t position = 0; position < n; ++position) {
      const bool is_seen = n - position <= 20;
      for (std::int64_t head = 0; head < 2; ++head) {
        ASSERT_EQ(std::isnan(inputs.key(stream, head, position, 0)), !is_seen);
        ASSERT_EQ(std::isnan(inputs.value(stream, head, position, 127)), !is_seen);
      }
    }
  }
}

// A stream's queries, keys and values as kernels find them, whatever the call around it.
void expect_same_stream(const Inputs& a, std::int64_t in_a, const Inputs& b, std::int64_t in_b) {
  ASSERT_EQ(a.context(in_a), b.context(in_b));
  const std::int64_t n = a.context(in_a);
  const std::int64_t first = std::max<std::int64_t>(0, n - a.shape().window);
  for (std::int64_t position = first; position < n + a.shape().width; ++position) {
    for (std::int64_t d = 0; d < 128; d += 31) {
      ASSERT_EQ(a.key(in_a, 1, position, d), b.key(in_b, 1, position, d));
      ASSERT_EQ(a.value(in_a, 1, position, d), b.value(in_b, 1, position, d));
      if (position >= n) {
        ASSERT_EQ(a.query(in_a, 3, position - n, d), b.query(in_b, 3, position - n, d));
      }
    }
  }
}

TEST(Problem, KeepsAStreamsBytesAloneInAnotherOrderAndInAnotherBuffer) {
  for (const std::string data : {"normal", "planted"}) {
    const std::vector<Setting> base =
        small({{"data", data}, {"lengths", "mixed"}, {"window", "300"}});
    const auto made = [&](std::vector<Setting> more) {
      more.insert(more.end(), base.begin(), base.end());
      return make_inputs(workload_of(more));
    };
    const Inputs whole = made({{"streams", "6"}});
    expect_same_stream(whole, 4, made({{"streams", "1"}, {"first_stream", "4"}}), 0);
    expect_same_stream(whole, 4, made({{"streams", "6"}, {"order", "descending"}}), 1);
    expect_same_stream(whole, 3, made({{"streams", "6"}, {"slack", "9"}, {"base_offset", "8"}}), 3);
    expect_same_stream(whole, 2, made({{"streams", "6"}, {"unread", "random"}}), 2);
  }
}

// Block key j has position n + j: the same bytes as when it is part of the context.
TEST(Problem, KeepsAKeysBytesWhenItJoinsTheContext) {
  const Inputs before = make_inputs(workload_of(small({{"context", "510"}, {"width", "8"}})));
  const Inputs after = make_inputs(workload_of(small({{"context", "513"}, {"width", "5"}})));
  for (std::int64_t position = 500; position < 518; ++position) {
    for (std::int64_t d = 0; d < 128; ++d) {
      ASSERT_EQ(before.key(0, 1, position, d), after.key(0, 1, position, d));
      ASSERT_EQ(before.value(0, 1, position, d), after.value(0, 1, position, d));
    }
  }
  EXPECT_EQ(before.query(0, 3, 5, 9), after.query(0, 3, 2, 9));
}

// Changes each axis in turn: equal content keys must mean equal bytes.
TEST(Problem, SharesContentKeysOnlyBetweenEqualBytes) {
  const std::vector<Setting> base = {{"heads", "4"},
                                     {"kv_heads", "2"},
                                     {"streams", "2"},
                                     {"lengths", "alternating"},
                                     {"context", "40"},
                                     {"data", "planted"},
                                     {"window", "20"},
                                     {"slack", "2"}};
  const std::map<std::string, std::string> changes = {{"heads", "2"},
                                                      {"kv_heads", "1"},
                                                      {"dim", "256"},
                                                      {"streams", "3"},
                                                      {"width", "9"},
                                                      {"context", "41"},
                                                      {"lengths", "equal"},
                                                      {"window", "19"},
                                                      {"causal", "yes"},
                                                      {"slack", "3"},
                                                      {"unread", "inf"},
                                                      {"data", "normal"},
                                                      {"base_offset", "8"},
                                                      {"first_stream", "1"},
                                                      {"order", "descending"}};
  ASSERT_EQ(changes.size(), axes().size());
  const Inputs first = make_inputs(workload_of(base));
  int num_shared = 0;
  for (const auto& [axis, value] : changes) {
    std::vector<Setting> changed = base;
    const auto found = std::ranges::find(changed, axis, &Setting::first);
    if (found == changed.end()) {
      changed.emplace_back(axis, value);
    } else {
      found->second = value;
    }
    const Inputs second = make_inputs(workload_of(changed));
    for (std::size_t tensor = 0; tensor < kOut; ++tensor) {
      const TensorSpec& spec = first.problem->tensors()[tensor];
      if (spec.content_key == second.problem->tensors()[tensor].content_key) {
        ++num_shared;
        EXPECT_EQ(first.bytes[tensor], second.bytes[tensor]) << axis << " " << spec.name;
      }
    }
  }
  EXPECT_GT(num_shared, 30);
}

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

Ranges live(std::vector<Setting> axes, Tensor tensor) {
  const auto problem = make_problem(workload_of(small(std::move(axes))));
  Ranges found;
  for (const ElementRange& range : problem->live(tensor)) {
    found.emplace_back(range.begin, range.end);
  }
  return found;
}

// One context of 600 keys: a row sees groups 0 and 1, of a short window only group 1.
TEST(Problem, IsLiveInTheGroupsThatARowSees) {
  const auto of_window = [](std::string_view window, Tensor tensor) {
    return live({{"context", "600"}, {"window", std::string(window)}, {"width", "4"}}, tensor);
  };
  constexpr std::int64_t kPerGroup = 4 * 4;
  EXPECT_EQ(of_window("-1", kPartialM), (Ranges{{0, 2 * kPerGroup}}));
  EXPECT_EQ(of_window("50", kPartialL), (Ranges{{kPerGroup, 2 * kPerGroup}}));
  // Rows 0 to 2 see key 511 and older; row 3 sees 512 and newer.
  EXPECT_EQ(of_window("91", kPartialM), (Ranges{{0, 3 * 4}, {kPerGroup, 2 * kPerGroup}}));
  EXPECT_EQ(of_window("91", kPartialO),
            (Ranges{{0, 3 * 4 * 128}, {kPerGroup * 128, 2 * kPerGroup * 128}}));
  EXPECT_EQ(of_window("91", kOut), (Ranges{{0, kPerGroup * 128}}));
}

// Row 2 ends with the last key of group 0, row 3 with the first of group 1.
TEST(Problem, IsNotLiveInAGroupThatBeginsWhereARowEnds) {
  EXPECT_EQ(live({{"context", "509"}, {"width", "4"}, {"causal", "yes"}}, kPartialM),
            (Ranges{{0, 4 * 4}, {4 * 4 + 3 * 4, 2 * 4 * 4}}));
}

TEST(Problem, CountsTheBytesOfKeysWithinSomeWindow) {
  const auto bytes = [](std::vector<Setting> axes) {
    return make_problem(workload_of(axes))->min_bytes();
  };
  constexpr std::int64_t kPerKey = 8 * 128 * 2 * 2;
  constexpr std::int64_t kPerRow = 32 * 128 * 2 * 2;
  EXPECT_EQ(bytes({}), (2'047 + 8) * kPerKey + 8 * kPerRow);
  EXPECT_EQ(bytes({{"window", "-1"}}), (4'096 + 8) * kPerKey + 8 * kPerRow);
  EXPECT_EQ(bytes({{"window", "0"}}), 8 * kPerKey + 8 * kPerRow);
  EXPECT_EQ(bytes({{"context", "7"}, {"slack", "100"}}), (7 + 8) * kPerKey + 8 * kPerRow);
  EXPECT_EQ(bytes({{"streams", "2"}, {"lengths", "alternating"}, {"width", "2"}}),
            (2'047 + 4) * kPerKey + 4 * kPerRow);
}

// Row r of 8 reaches back 2,047 - r context keys.
TEST(Problem, CountsTheOperationsOfVisibleKeys) {
  const auto flops = [](std::vector<Setting> axes) {
    return make_problem(workload_of(axes))->min_flops();
  };
  constexpr std::int64_t kPerPair = 4 * 128 * 32;
  EXPECT_EQ(flops({}), (8 * 2'047 - 28 + 8 * 8) * kPerPair);
  EXPECT_EQ(flops({{"window", "-1"}}), 8 * (4'096 + 8) * kPerPair);
  EXPECT_EQ(flops({{"window", "0"}, {"causal", "yes"}}), (8 * 9 / 2) * kPerPair);
  EXPECT_EQ(flops({{"streams", "0"}}), 0);
}

}  // namespace
}  // namespace assay::kernels::block_attention
