#include "kernels/qsa_decode/contract.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::kernels::qsa_decode {
namespace {

absl::Status status_of(std::vector<Setting> axes) {
  return parse_shape({.axes = std::move(axes), .seed = 0}).status();
}

TEST(Contract, NamesAnUnknownAxisAndFormat) {
  EXPECT_EQ(status_of({{"kvs", "int8"}}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status_of({{"kv", "int4"}}).message(),
            "kv: `int4` is not one of fp16, int8, q4_0, k8v4");
}

TEST(Contract, RefusesANegativeWidth) {
  EXPECT_EQ(status_of({{"width", "-1"}}).message(), "width: `-1` is not an integer in [0, 131072]");
}

TEST(Contract, RefusesAWidthPastACapacityThatIsNoMultipleOfTheChunk) {
  EXPECT_EQ(status_of({{"width", "101"}, {"cap", "100"}}).message(),
            "width: 101 is more than cap 100, which is not a multiple of 64");
  EXPECT_TRUE(status_of({{"width", "100"}, {"cap", "100"}}).ok());
  EXPECT_TRUE(status_of({{"width", "1000"}, {"cap", "128"}}).ok());
}

TEST(Contract, RefusesTheStepEntryForMoreThanOneQuery) {
  EXPECT_EQ(status_of({{"entry", "step"}, {"n_q", "2"}}).message(),
            "entry: step takes a single query, n_q * streams is 2");
}

TEST(Contract, RefusesWhatWouldNotFitInMemory) {
  EXPECT_EQ(status_of({{"streams", "1024"}, {"width", "32768"}}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status_of({{"streams", "300"}, {"width", "64"}}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Contract, SizesThePoolByTheSelections) {
  const Shape small = parse_shape({.axes = {}, .seed = 0}).value();
  EXPECT_EQ(small.num_logical_pages, 10'240);
  EXPECT_EQ(small.num_chunks, 512);
  const Shape large =
      parse_shape({.axes = {{"n_q", "4"}, {"width", "32768"}, {"sharing", "disjoint"}}, .seed = 0})
          .value();
  EXPECT_EQ(large.num_logical_pages, 32'768);
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
