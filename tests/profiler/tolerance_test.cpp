#include "profiler/tolerance.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace assay::profiler {
namespace {

std::vector<v1::ToleranceBucket> written(const ToleranceBuckets& buckets) {
  google::protobuf::RepeatedPtrField<v1::ToleranceBucket> messages;
  buckets.write(messages);
  return {messages.begin(), messages.end()};
}

TEST(Tolerance, HasNoBucketsWhereTheReferenceDoesNotCountItsTerms) {
  const std::vector<float> found = {1.0F, 2.0F};
  const kernels::Reference reference = {
      .values = {1.0, 2.5}, .tolerances = {1.0, 1.0}, .num_terms = {}};
  ToleranceBuckets buckets;
  const ToleranceUse use = tolerance_use(whole_tensor("out", "f32", {2}),
                                         reinterpret_cast<const std::byte*>(found.data()),
                                         reference,
                                         buckets);
  EXPECT_EQ(use.share, 0.5);
  EXPECT_EQ(use.element, 1);
  EXPECT_TRUE(written(buckets).empty());
}

TEST(Tolerance, KeepsTheWorstShareOfEveryPowerOfTwoOfTerms) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> found = {0.0F, 0.25F, 0.5F, 0.75F, 0.125F, nan, 9.0F};
  kernels::Reference reference;
  reference.values.assign(found.size(), 0.0);
  reference.tolerances.assign(found.size(), 1.0);
  reference.num_terms = {0, 1, 2, 3, 4, 7, 2'000'000'000};
  TensorLayout layout = whole_tensor("out", "f32", {7});
  layout.live = {{.begin = 0, .end = 6}};
  ToleranceBuckets buckets;
  tolerance_use(layout, reinterpret_cast<const std::byte*>(found.data()), reference, buckets);
  const auto all = written(buckets);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].least_terms(), 0);
  EXPECT_EQ(all[0].most_terms(), 0);
  EXPECT_EQ(all[1].least_terms(), 1);
  EXPECT_EQ(all[1].most_terms(), 1);
  EXPECT_EQ(all[1].tolerance_used(), 0.25);
  EXPECT_EQ(all[2].least_terms(), 2);
  EXPECT_EQ(all[2].most_terms(), 3);
  EXPECT_EQ(all[2].num_elements(), 2);
  EXPECT_EQ(all[2].tolerance_used(), 0.75);
  EXPECT_EQ(all[3].least_terms(), 4);
  EXPECT_EQ(all[3].most_terms(), 7);
  EXPECT_EQ(all[3].tolerance_used(), kWorstShare);
}

}  // namespace
}  // namespace assay::profiler
