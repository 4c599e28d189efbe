#include "tests/kernels/simt/block.h"

#include "kernels/attention/tensor_core.h"
#include "tests/kernels/simt/primitives.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

namespace assay::simt {
namespace {

using kernels::attention::tensor_core_step;

constexpr float kSentinel = -7.0F;

Launch launch_of(int num_threads, int shared_bytes = 0) {
  return {.num_blocks = 1,
          .num_threads = num_threads,
          .shared_bytes = shared_bytes,
          .step = tensor_core_step};
}

TEST(SimtBlock, RefusesHalfAWarp) {
  EXPECT_EQ("num_threads: must be a positive multiple of 32", run(launch_of(48), [] {}));
}

TEST(SimtBlock, NamesACollectiveThatALaneMisses) {
  const std::string error = run(launch_of(32), [] {
    if (thread_id() != 3) {
      sync_warp();
    }
  });
  EXPECT_NE(std::string::npos, error.find("never reach")) << error;
}

TEST(SimtBlock, NamesABarrierThatAWarpMisses) {
  const std::string error = run(launch_of(64), [] {
    if (thread_id() < 32) {
      sync_block();
    }
  });
  EXPECT_NE(std::string::npos, error.find("never reach")) << error;
}

TEST(SimtBlock, NamesLanesInDifferentCollectives) {
  const std::string error = run(launch_of(32), [] {
    if (thread_id() == 0) {
      sync_warp();
    } else {
      shuffle_xor(0, 1);
    }
  });
  EXPECT_NE(std::string::npos, error.find("different collectives")) << error;
}

TEST(SimtBlock, NamesAWriteOutsideSharedMemory) {
  const std::string error =
      run(launch_of(32, 256), [] { shared_memory()[256 + thread_id()] = std::byte{1}; });
  EXPECT_NE(std::string::npos, error.find("outside shared memory")) << error;
}

TEST(SimtBlock, NamesAMatrixRowOutsideSharedMemory) {
  const std::string error = run(launch_of(32, 256), [] {
    std::uint32_t matrices[4];
    load_matrices(matrices, shared_memory() + 256, false);
  });
  EXPECT_NE(std::string::npos, error.find("load_matrices")) << error;
}

TEST(SimtBlock, NamesACopyFromAnOddAddress) {
  alignas(16) static const std::array<std::byte, 64> source = {};
  const std::string error =
      run(launch_of(32, 512), [] { copy_async(shared_memory(), source.data() + 2, true); });
  EXPECT_NE(std::string::npos, error.find("source")) << error;
}

TEST(SimtBlock, NamesABarrierOfTwoSizes) {
  const std::string error = run(launch_of(64), [] { barrier_sync(1, thread_id() < 32 ? 64 : 32); });
  EXPECT_NE(std::string::npos, error.find("two sizes")) << error;
}

TEST(SimtBlock, SharedMemoryStartsAsNaNInEveryBlock) {
  std::vector<float> found(64, kSentinel);
  Launch launch = launch_of(32, 128);
  launch.num_blocks = 2;
  ASSERT_EQ("", run(launch, [&] {
              auto* shared = reinterpret_cast<float*>(shared_memory());
              found[static_cast<std::size_t>(block_id() * 32 + thread_id())] = shared[thread_id()];
              shared[thread_id()] = 1.0F;
            }));
  for (const float value : found) {
    EXPECT_NE(value, value);
  }
}

TEST(SimtBlock, ACopyLandsAtTheWaitThatCoversItAndPoisonsUntilThen) {
  alignas(16) static const std::array<float, 4> first = {1, 2, 3, 4};
  alignas(16) static const std::array<float, 4> second = {5, 6, 7, 8};
  std::vector<float> seen;
  ASSERT_EQ("", run(launch_of(32, 1024), [&] {
              auto* mine = shared_memory() + thread_id() * 32;
              auto* floats = reinterpret_cast<float*>(mine);
              floats[0] = floats[4] = 0.0F;
              copy_async(mine, first.data(), true);
              commit_copies();
              copy_async(mine + 16, second.data(), true);
              commit_copies();
              const float before = floats[0];
              wait_for_copies(1);
              const float covered = floats[0];
              const float uncovered = floats[4];
              wait_for_copies(0);
              if (thread_id() == 0) {
                seen = {before, covered, uncovered, floats[4]};
              }
            }));
  EXPECT_NE(seen[0], seen[0]);
  EXPECT_EQ(1.0F, seen[1]);
  EXPECT_NE(seen[2], seen[2]);
  EXPECT_EQ(5.0F, seen[3]);
}

TEST(SimtBlock, ACopyOfNothingWritesZerosAndReadsNothing) {
  float seen = kSentinel;
  ASSERT_EQ("", run(launch_of(32, 512), [&] {
              copy_async(shared_memory() + thread_id() * 16, nullptr, false);
              commit_copies();
              wait_for_copies(0);
              if (thread_id() == 0) {
                seen = *reinterpret_cast<const float*>(shared_memory());
              }
            }));
  EXPECT_EQ(0.0F, seen);
}

TEST(SimtBlock, AStepOfTheTensorCoreTakesItsFragmentsAsTheHardwareDoes) {
  // a[i][k] and b[k][n] as the instruction's tables place them, from plain matrices.
  static std::uint16_t a[16][16];
  static std::uint16_t b[16][8];
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) {
      a[i][k] = kernels::attention::to_bf16(static_cast<float>(i * 16 + k) * 0.25F);
    }
  }
  for (int k = 0; k < 16; ++k) {
    for (int n = 0; n < 8; ++n) {
      b[k][n] = kernels::attention::to_bf16(static_cast<float>(k - 2 * n));
    }
  }
  static float c[16][8];
  ASSERT_EQ("", run(launch_of(32), [] {
              const int group = thread_id() / 4;
              const int quad = thread_id() % 4 * 2;
              const auto pair = [](std::uint16_t low, std::uint16_t high) {
                return low | static_cast<std::uint32_t>(high) << 16;
              };
              const std::uint32_t left[4] = {pair(a[group][quad], a[group][quad + 1]),
                                             pair(a[group + 8][quad], a[group + 8][quad + 1]),
                                             pair(a[group][quad + 8], a[group][quad + 9]),
                                             pair(a[group + 8][quad + 8], a[group + 8][quad + 9])};
              float sums[4] = {1, 1, 1, 1};
              multiply_add(sums,
                           left,
                           pair(b[quad][group], b[quad + 1][group]),
                           pair(b[quad + 8][group], b[quad + 9][group]));
              c[group][quad] = sums[0];
              c[group][quad + 1] = sums[1];
              c[group + 8][quad] = sums[2];
              c[group + 8][quad + 1] = sums[3];
            }));
  for (int i = 0; i < 16; ++i) {
    for (int n = 0; n < 8; ++n) {
      std::uint16_t column[16];
      for (int k = 0; k < 16; ++k) {
        column[k] = b[k][n];
      }
      EXPECT_EQ(tensor_core_step(1.0F, a[i], column), c[i][n]) << i << " " << n;
    }
  }
}

TEST(SimtBlock, MatricesLoadByRowsOrTransposed) {
  for (const bool is_transposed : {false, true}) {
    std::vector<std::uint32_t> seen(32 * 4);
    ASSERT_EQ("", run(launch_of(32, 512), [&] {
                auto* row = shared_memory() + thread_id() * 16;
                for (int i = 0; i < 8; ++i) {
                  const auto value = static_cast<std::uint16_t>(thread_id() * 8 + i);
                  std::memcpy(row + 2 * i, &value, 2);
                }
                sync_warp();
                std::uint32_t matrices[4];
                load_matrices(matrices, row, is_transposed);
                std::copy_n(matrices, 4, seen.begin() + thread_id() * 4);
              }));
    // Lane 5 of matrix 2: row 1, columns 2 and 3; transposed, rows 2 and 3 of column 1.
    const std::uint32_t low = is_transposed ? (16 + 2) * 8 + 1 : (16 + 1) * 8 + 2;
    const std::uint32_t high = is_transposed ? (16 + 3) * 8 + 1 : (16 + 1) * 8 + 3;
    EXPECT_EQ(low | high << 16, seen[5 * 4 + 2]);
  }
}

TEST(SimtBlock, ANamedBarrierHandsWhatWasWrittenBeforeItOn) {
  std::vector<float> seen(4, kSentinel);
  ASSERT_EQ("", run(launch_of(128, 64), [&] {
              auto* shared = reinterpret_cast<float*>(shared_memory());
              const int warp = thread_id() / 32;
              if (warp > 0) {
                barrier_sync(warp, 64);
              }
              const float sum = warp == 0 ? 1.0F : shared[0] * 2.0F;
              sync_warp();
              if (thread_id() % 32 == 0) {
                shared[0] = sum;
                seen[static_cast<std::size_t>(warp)] = sum;
              }
              sync_warp();
              if (warp < 3) {
                barrier_sync(warp + 1, 64);
              }
            }));
  EXPECT_EQ((std::vector<float>{1, 2, 4, 8}), seen);
}

TEST(SimtBlock, LanesExchangeByXor) {
  std::vector<float> seen(32);
  ASSERT_EQ("", run(launch_of(32), [&] {
              seen[static_cast<std::size_t>(thread_id())] =
                  shuffle_xor(static_cast<float>(thread_id()), 5);
            }));
  EXPECT_EQ(static_cast<float>(12 ^ 5), seen[12]);
}

}  // namespace
}  // namespace assay::simt
