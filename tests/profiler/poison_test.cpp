#include "profiler/poison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace assay::profiler {
namespace {

std::vector<std::byte> poisoned(std::size_t size, std::byte poison) {
  return std::vector<std::byte>(size, poison);
}

void write_floats(std::vector<std::byte>* bytes, std::size_t begin, std::size_t end, float value) {
  for (std::size_t i = begin; i < end; ++i) {
    std::memcpy(bytes->data() + i * sizeof(float), &value, sizeof(float));
  }
}

TEST(Poison, ShowsAnOutputThatIsWrittenByHalf) {
  const TensorLayout layout = whole_tensor("out", "f32", {1024});
  auto first = poisoned(4096, kFirstPoison);
  auto second = poisoned(4096, kSecondPoison);
  write_floats(&first, 0, 512, 1.5F);
  write_floats(&second, 0, 512, 1.5F);
  const auto unwritten = find_unwritten(layout, first.data(), second.data());
  ASSERT_TRUE(unwritten.has_value());
  EXPECT_EQ(unwritten->num_unwritten, 512);
  EXPECT_EQ(describe(*unwritten), "512 of 1,024 elements of `out` not written, first out[512]");
}

TEST(Poison, ShowsAnElementOfWhichOneByteIsNotWritten) {
  const TensorLayout layout = whole_tensor("out", "f32", {2, 2});
  auto first = poisoned(16, std::byte{7});
  auto second = first;
  first[9] = kFirstPoison;
  second[9] = kSecondPoison;
  const auto unwritten = find_unwritten(layout, first.data(), second.data());
  ASSERT_TRUE(unwritten.has_value());
  EXPECT_EQ(unwritten->num_unwritten, 1);
  EXPECT_EQ(unwritten->first_index, (std::vector<std::int64_t>{1, 0}));
}

TEST(Poison, LetsAnElementBeTheValueOfOnePoison) {
  const TensorLayout layout = whole_tensor("out", "u8", {4});
  const auto bytes = poisoned(4, kFirstPoison);
  EXPECT_FALSE(find_unwritten(layout, bytes.data(), bytes.data()).has_value());
}

TEST(Poison, LooksAtLiveElementsOnly) {
  TensorLayout layout = whole_tensor("out", "u8", {8});
  layout.live = {{0, 4}};
  auto first = poisoned(8, kFirstPoison);
  auto second = poisoned(8, kSecondPoison);
  std::fill_n(first.begin(), 4, std::byte{1});
  std::fill_n(second.begin(), 4, std::byte{1});
  EXPECT_FALSE(find_unwritten(layout, first.data(), second.data()).has_value());
}

TEST(Poison, CountsNoZeroOfEitherSignAndNoPoisonAsNontrivial) {
  const TensorLayout layout = whole_tensor("out", "f32", {8});
  auto bytes = poisoned(32, kFirstPoison);
  write_floats(&bytes, 0, 1, 0.0F);
  write_floats(&bytes, 1, 2, -0.0F);
  write_floats(&bytes, 2, 5, 1e-45F);
  EXPECT_EQ(count_nontrivial(layout, bytes.data()), 3);
  const TensorLayout integers = whole_tensor("q", "i8", {2});
  const std::vector<std::byte> values = {std::byte{0x80}, std::byte{0}};
  EXPECT_EQ(count_nontrivial(integers, values.data()), 1);
}

TEST(Poison, FindsTheFirstChangedByteOfAGuardBand) {
  auto guard = poisoned(64, kGuardPattern);
  EXPECT_FALSE(find_changed(guard, kGuardPattern).has_value());
  guard[17] = std::byte{0};
  EXPECT_EQ(find_changed(guard, kGuardPattern), 17U);
}

}  // namespace
}  // namespace assay::profiler
