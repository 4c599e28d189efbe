#include "kernels/calibration/problem.h"

#include "kernels/calibration/operator.h"
#include "kernels/inputs.h"
#include "tests/kernels/calibration/model.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::kernels::calibration {
namespace {

CpuTensors tensors_of(const std::vector<Setting>& axes, std::uint64_t seed = 0) {
  return make_tensors(calibration(), make_workload(calibration(), axes, seed));
}

TEST(Problem, ReadsAndWritesEachElementOnce) {
  const CpuTensors tensors = tensors_of({{"elements", "1027"}, {"steps", "3"}});
  EXPECT_EQ(tensors.problem->min_bytes(), 8 * 1'027);
  EXPECT_EQ(tensors.problem->live(kY).back().end, 1'027);
}

TEST(Problem, HasNoFloatingPointOperations) {
  EXPECT_EQ(tensors_of({{"steps", "1000"}}).problem->min_flops(), 0);
}

TEST(Problem, FillsWordsBySeedAndPlaceOnly) {
  const std::vector<std::uint32_t> x = words_of(tensors_of({{"elements", "100000"}}, 7).bytes[kX]);
  const std::vector<std::uint32_t> shorter =
      words_of(tensors_of({{"elements", "999"}, {"steps", "5"}}, 7).bytes[kX]);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), x.begin()));
  EXPECT_NE(words_of(tensors_of({{"elements", "999"}}, 8).bytes[kX]), shorter);
  EXPECT_EQ(x[99'999], random_word(make_key(7, "x"), 99'999) >> 32U);
  EXPECT_GT(std::set(x.begin(), x.end()).size(), 99'990U);
}

TEST(Problem, InputsOfAnotherSizeOrSeedHaveAnotherKey) {
  std::set<std::string> keys;
  for (const std::uint64_t seed : {0U, 1U}) {
    for (const char* elements : {"1", "11"}) {
      keys.insert(tensors_of({{"elements", elements}}, seed).problem->tensors()[kX].content_key);
    }
  }
  EXPECT_EQ(keys.size(), 4U);
  const auto key = [](const char* steps) {
    return tensors_of({{"steps", steps}}).problem->tensors()[kX].content_key;
  };
  EXPECT_EQ(key("0"), key("17"));
}

TEST(Problem, ReferenceIsTheWordAfterItsRoundsAsASignedInteger) {
  for (const char* steps : {"0", "1", "2", "1000"}) {
    const CpuTensors tensors = tensors_of({{"elements", "70001"}, {"steps", steps}});
    const std::vector<std::uint32_t> x = words_of(tensors.bytes[kX]);
    const Reference reference = tensors.problem->reference(kY);
    ASSERT_EQ(reference.values.size(), x.size());
    ASSERT_EQ(reference.tolerances.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::uint32_t word = word_after(x[i], static_cast<std::uint32_t>(std::stoul(steps)));
      ASSERT_EQ(reference.values[i], static_cast<double>(static_cast<std::int32_t>(word)));
      ASSERT_EQ(reference.tolerances[i], 0.5);
    }
  }
}

}  // namespace
}  // namespace assay::kernels::calibration
