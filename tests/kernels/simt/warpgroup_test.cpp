#include "tests/kernels/simt/warpgroup.h"

#include "kernels/attention/tensor_core.h"
#include "tests/kernels/simt/block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace assay::kernels::attention {
namespace {

constexpr int kBoxRows = 8;
constexpr int kBoxBytes = kBoxRows * 128;
constexpr int kBarriersAt = 2 * kBoxBytes;  // behind two boxes

std::string run_block(int num_threads, const std::function<void()>& body, std::uint64_t seed = 1) {
  return simt::run({.num_blocks = 1,
                    .num_threads = num_threads,
                    .shared_bytes = kBarriersAt + 64,
                    .step = tensor_core_step,
                    .seed = seed},
                   body);
}

std::uint16_t* box_at(int number) {
  return reinterpret_cast<std::uint16_t*>(simt::shared_memory() + number * kBoxBytes);
}

Barrier& barrier_at(int number) {
  return reinterpret_cast<Barrier*>(simt::shared_memory() + kBarriersAt)[number];
}

void init(int number, int arrivals) {
  if (thread_id() == 0) {
    init_barrier(barrier_at(number), arrivals);
  }
  sync_block();
}

// Sixteen rows of 64, numbered.
const std::vector<std::uint16_t>& numbers() {
  static const std::vector<std::uint16_t> values = [] {
    std::vector<std::uint16_t> filled(16 * 64);
    std::iota(filled.begin(), filled.end(), std::uint16_t{0});
    return filled;
  }();
  return values;
}

TensorMap numbers_map() {
  return {numbers().data(), std::ssize(numbers()), 64, kBoxRows};
}

TEST(SimtWarpgroup, NamesAPhaseThatNeverEnds) {
  const std::string error = run_block(32, [] {
    init(0, 2);
    if (thread_id() == 0) {
      arrive(barrier_at(0));
    }
    wait_for_phase(barrier_at(0), 0);
  });
  EXPECT_NE(std::string::npos, error.find("phase that never ends")) << error;
}

TEST(SimtWarpgroup, NamesTheWaitForAPhaseAheadOfItsParity) {
  const std::string error = run_block(32, [] {
    init(0, 32);
    arrive(barrier_at(0));
    wait_for_phase(barrier_at(0), 0);
    wait_for_phase(barrier_at(0), 1);
  });
  EXPECT_NE("", error);
  EXPECT_EQ("", run_block(32, [] {
              init(0, 32);
              wait_for_phase(barrier_at(0), 1);  // as before the first phase
            }));
}

TEST(SimtWarpgroup, NamesAnArrivalTooManyAndABarrierThatIsNone) {
  const std::string many = run_block(32, [] {
    init(0, 1);
    if (thread_id() == 0) {
      arrive_expecting(barrier_at(0), 16);
      arrive(barrier_at(0));
    }
  });
  EXPECT_NE(std::string::npos, many.find("more threads arrive")) << many;
  const std::string none = run_block(32, [] { arrive(barrier_at(0)); });
  EXPECT_NE(std::string::npos, none.find("not initialised")) << none;
  const std::string twice = run_block(32, [] { init_barrier(barrier_at(0), 1); });
  EXPECT_NE(std::string::npos, twice.find("initialised twice")) << twice;
}

TEST(SimtWarpgroup, WarpsThatEndEarlyLeaveTheOthersTheirBarriers) {
  for (std::uint64_t seed = 1; seed < 10; ++seed) {
    std::vector<std::int32_t> seen(32);
    EXPECT_EQ("",
              run_block(
                  128,
                  [&] {
                    init(0, 1);
                    if (thread_id() >= 64) {
                      return;
                    }
                    if (thread_id() == 0) {
                      *reinterpret_cast<std::int32_t*>(simt::shared_memory()) = 5;
                      arrive(barrier_at(0));
                    }
                    wait_for_phase(barrier_at(0), 0);
                    barrier_sync(1, 64);
                    const int value = *reinterpret_cast<std::int32_t*>(simt::shared_memory());
                    if (thread_id() >= 32) {
                      seen[static_cast<std::size_t>(thread_id() - 32)] = value;
                    }
                  },
                  seed));
    EXPECT_EQ(std::vector<std::int32_t>(32, 5), seen) << seed;
  }
}

TEST(SimtWarpgroup, ABoxLandsSwizzledAtTheWaitAndPoisonsUntilThen) {
  std::vector<std::uint16_t> before;
  std::vector<std::uint16_t> after;
  ASSERT_EQ("", run_block(32, [&] {
              init(0, 1);
              if (thread_id() == 0) {
                box_at(1)[0] = 0;
                arrive_expecting(barrier_at(0), kBoxBytes);
                copy_box(box_at(1), numbers_map(), 3, 0, barrier_at(0));
                before.assign(box_at(1), box_at(1) + kBoxBytes / 2);
              }
              sync_warp();
              wait_for_phase(barrier_at(0), 0);
              after.assign(box_at(1), box_at(1) + kBoxBytes / 2);
            }));
  EXPECT_EQ(std::vector<std::uint16_t>(kBoxBytes / 2, 0xFFFF), before);
  for (int row = 0; row < kBoxRows; ++row) {
    for (int column = 0; column < 64; ++column) {
      EXPECT_EQ((3 + row) * 64 + column, panel_element(after.data(), row, column));
    }
  }
}

TEST(SimtWarpgroup, ABoxMayBeginBetweenRows) {
  ASSERT_EQ("", run_block(32, [] {
              init(0, 32);
              if (thread_id() == 0) {
                expect_bytes(barrier_at(0), kBoxBytes);
                copy_box(box_at(0), numbers_map(), 0, 2, barrier_at(0));
              }
              arrive(barrier_at(0));
              wait_for_phase(barrier_at(0), 0);
              if (panel_element(box_at(0), 1, 9) != 64 + 16 + 9) {
                simt::fail("another element");
              }
            }));
}

TEST(SimtWarpgroup, AWaitForFewerBytesThanAreCopiedSeesPoison) {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  const std::string error = run_block(32, [&] {
    init(0, 1);
    if (thread_id() == 0) {
      arrive_expecting(barrier_at(0), kBoxBytes / 2);
      copy_box(box_at(0), numbers_map(), 1, 0, barrier_at(0));
    }
    sync_warp();
    wait_for_phase(barrier_at(0), 0);
    first = box_at(0)[0];
    last = panel_element(box_at(0), 7, 63);
  });
  EXPECT_EQ(64, first);
  EXPECT_EQ(0xFFFF, last);
  EXPECT_NE(std::string::npos, error.find("before its copies have landed")) << error;
}

TEST(SimtWarpgroup, NamesAWaitForMoreBytesThanAreCopied) {
  const std::string error = run_block(32, [&] {
    init(0, 1);
    if (thread_id() == 0) {
      arrive_expecting(barrier_at(0), 2 * kBoxBytes);
      copy_box(box_at(0), numbers_map(), 1, 0, barrier_at(0));
    }
    wait_for_phase(barrier_at(0), 0);
  });
  EXPECT_NE(std::string::npos, error.find("phase that never ends")) << error;
}

TEST(SimtWarpgroup, NamesABoxThatIsNotWhollyInTheTensorOrOnALine) {
  for (const auto& [row, unit] : {std::pair{9, 0}, {-1, 0}, {8, 1}}) {
    const std::string error = run_block(32, [&, row = row, unit = unit] {
      init(0, 1);
      copy_box(box_at(0), numbers_map(), row, unit, barrier_at(0));
    });
    EXPECT_NE(std::string::npos, error.find("outside the tensor")) << row << " " << unit;
  }
  const std::string error = run_block(32, [] {
    init(0, 1);
    copy_box(box_at(0) + 64, numbers_map(), 0, 0, barrier_at(0));
  });
  EXPECT_NE(std::string::npos, error.find("1,024 bytes")) << error;
}

TEST(SimtWarpgroup, AnArrivalBehindCopiesCountsOnceWhenTheyLand) {
  bool was_poison = true;
  std::vector<std::uint16_t> after(32);
  ASSERT_EQ("", run_block(64, [&] {
              init(0, 32);
              if (thread_id() < 32) {
                std::byte* target = simt::shared_memory() + 16 * thread_id();
                copy_async(target, numbers().data() + 8 * thread_id(), true);
                if (thread_id() % 2 == 0) {
                  commit_copies();
                }
                arrive_when_copied(barrier_at(0));
                was_poison = was_poison && target[0] == std::byte{0xFF};
                return;
              }
              wait_for_phase(barrier_at(0), 0);
              const int lane = thread_id() - 32;
              after[static_cast<std::size_t>(lane)] = box_at(0)[8 * lane];
            }));
  EXPECT_TRUE(was_poison);
  for (std::size_t lane = 0; lane < after.size(); ++lane) {
    EXPECT_EQ(8 * lane, after[lane]);
  }
}

TEST(SimtWarpgroup, AStepReadsAtItsWaitAndOnlyWhenCommitted) {
  // One row of A is one everywhere, one row of B too: the dot of both is 16.
  float committed = 0;
  float uncommitted = -1;
  const std::string error = simt::run(
      {.num_blocks = 1, .num_threads = 128, .shared_bytes = 32 * 1024, .step = tensor_core_step},
      [&] {
        auto* a = reinterpret_cast<std::uint16_t*>(simt::shared_memory());
        auto* b = a + 64 * 64;
        const std::uint16_t one = to_bf16(1.0F);
        float sums[16][4];
        sums[0][0] = -1;
        wgmma_rows_by_rows(sums, a, b, 0, false);
        wgmma_wait();
        if (thread_id() == 0) {
          uncommitted = sums[0][0];
        }
        wgmma_commit();
        for (int i = thread_id(); i < 192 * 64; i += num_threads()) {
          a[i] = one;
        }
        sync_block();
        wgmma_wait();
        if (thread_id() == 0) {
          committed = sums[0][0];
        }
      });
  EXPECT_EQ("", error);
  EXPECT_EQ(-1.0F, uncommitted);
  EXPECT_EQ(16.0F, committed);
}

TEST(SimtWarpgroup, LanesTakeFromAnyLaneModuloTheirNumber) {
  std::vector<std::int32_t> seen(32);
  ASSERT_EQ("", run_block(32, [&] {
              seen[static_cast<std::size_t>(thread_id())] =
                  shuffle_from(-100 - thread_id(), thread_id() - 3);
            }));
  EXPECT_EQ(-100 - 29, seen[0]);
  EXPECT_EQ(-100 - 4, seen[7]);
}

}  // namespace
}  // namespace assay::kernels::attention
