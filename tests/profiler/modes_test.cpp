#include "profiler/modes.h"

#include "profiler/schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace assay::profiler {
namespace {

using Blocks = std::vector<std::vector<double>>;

// A bell from twelve uniforms, near enough.
double normal(std::uint64_t index) {
  double sum = -6;
  for (std::uint64_t i = 0; i < 12; ++i) {
    sum += random_uniform(3, index, i);
  }
  return sum;
}

template <class Level>
Blocks blocks_of(std::size_t num_blocks, std::size_t num_calls, double noise, Level level) {
  Blocks blocks(num_blocks);
  std::uint64_t index = 0;
  for (std::size_t block = 0; block < num_blocks; ++block) {
    for (std::size_t call = 0; call < num_calls; ++call) {
      blocks[block].push_back(1e5 * level(block, call) * (1 + noise * normal(index++)));
    }
  }
  return blocks;
}

bool coin(std::uint64_t index) {
  return random_uniform(9, 1, index) < 0.5;
}

TEST(Modes, AreNotFoundInTooFewBlocks) {
  EXPECT_FALSE(find_modes({}).has_value());
  const auto jumping = [](std::size_t, std::size_t call) { return call % 2 == 0 ? 1.0 : 1.2; };
  EXPECT_FALSE(find_modes(blocks_of(11, 20, 0.01, jumping)).has_value());
  EXPECT_TRUE(find_modes(blocks_of(12, 20, 0.01, jumping)).has_value());
}

TEST(Modes, AreNotFoundInNoiseDriftOrOneStep) {
  const auto flat = [](std::size_t, std::size_t) { return 1.0; };
  const auto drifting = [](std::size_t block, std::size_t) {
    return 1 + 0.05 * static_cast<double>(block) / 48;
  };
  const auto stepping = [](std::size_t block, std::size_t) {
    return block / 16 % 2 == 0 ? 1 : 1.1;
  };
  const auto spiking = [](std::size_t, std::size_t call) { return call == 0 ? 5.0 : 1.0; };
  for (const double noise : {0.001, 0.01, 0.05}) {
    for (const std::size_t num_blocks : {12U, 24U, 48U, 96U}) {
      EXPECT_FALSE(find_modes(blocks_of(num_blocks, 20, noise, flat)).has_value()) << noise;
      EXPECT_FALSE(find_modes(blocks_of(num_blocks, 20, noise, drifting)).has_value()) << noise;
      EXPECT_FALSE(find_modes(blocks_of(num_blocks, 20, noise, stepping)).has_value()) << noise;
      EXPECT_FALSE(find_modes(blocks_of(num_blocks, 20, noise, spiking)).has_value()) << noise;
    }
  }
}

TEST(Modes, AreNotTheTicksOfATimer) {
  Blocks blocks(24);
  for (std::size_t i = 0; i < 480; ++i) {
    blocks[i / 20].push_back(coin(i) ? 992 : 1024);
  }
  EXPECT_FALSE(find_modes(blocks).has_value());
  for (std::vector<double>& block : blocks) {
    for (std::size_t call = 0; call < block.size(); ++call) {
      block[call] += call % 2 == 0 ? 192 : 0;
    }
  }
  EXPECT_TRUE(find_modes(blocks).has_value());
}

TEST(Modes, AreFoundInExactDurations) {
  const auto alternating = [](std::size_t, std::size_t call) { return call % 2 == 0 ? 1 : 3; };
  EXPECT_TRUE(find_modes(blocks_of(12, 20, 0, alternating)).has_value());
}

TEST(Modes, AreFoundCallByCall) {
  const auto modes = find_modes(blocks_of(12, 20, 0.01, [](std::size_t block, std::size_t call) {
    return coin(block * 20 + call) ? 1.2 : 1.0;
  }));
  ASSERT_TRUE(modes.has_value());
  EXPECT_FALSE(modes->by_block);
  EXPECT_NEAR(modes->apart, 0.2, 0.02);
  EXPECT_NEAR(modes->share, 0.5, 0.1);
  EXPECT_EQ(describe(Modes{0.2, 0.5, false}),
            "the samples have two modes 20.0 % apart, call by call");
}

TEST(Modes, AreFoundBlockByBlock) {
  for (const std::size_t num_calls : {3U, 20U}) {
    const auto modes =
        find_modes(blocks_of(24, num_calls, 0.01, [](std::size_t block, std::size_t) {
          return coin(block) ? 1.2 : 1.0;
        }));
    ASSERT_TRUE(modes.has_value());
    EXPECT_TRUE(modes->by_block);
    EXPECT_NEAR(modes->apart, 0.2, 0.02);
  }
}

TEST(Modes, AreNotMadeByAFewSlowCalls) {
  EXPECT_FALSE(find_modes(blocks_of(24, 20, 0.01, [](std::size_t, std::size_t call) {
                 return call % 5 == 0 ? 1.2 : 1.0;
               })).has_value());
}

}  // namespace
}  // namespace assay::profiler
