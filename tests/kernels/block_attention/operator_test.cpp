#include "kernels/block_attention/operator.h"

#include "kernels/attention/softmax.h"
#include "kernels/block_attention/contract.h"
#include "tests/kernels/block_attention/inputs.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <sys/mman.h>

namespace assay::kernels::block_attention {
namespace {

constexpr std::string_view kModel = "model_sm_90";
constexpr std::string_view kFp32 = "fp32";

CpuTensors run(const std::vector<Setting>& axes, std::string_view variant = kModel) {
  return run_variant(block_attention(), make_workload(block_attention(), axes), variant, {});
}

template <class Value>
Value at(const CpuTensors& tensors, Tensor tensor, std::int64_t index) {
  Value value;
  std::memcpy(&value,
              tensors.bytes[tensor].data() + static_cast<std::size_t>(index) * sizeof(Value),
              sizeof(Value));
  return value;
}

// Keys that a row sees whose position leaves `rest` when divided by the head's dim.
std::int64_t num_seen(const Shape& shape,
                      std::int64_t context,
                      std::int64_t row,
                      std::int64_t rest) {
  std::int64_t count = 0;
  for (std::int64_t key = rest; key < context + shape.width; key += shape.dim) {
    const bool is_seen = key < context ? context + row - key <= shape.window
                                       : !shape.is_causal || key - context <= row;
    count += is_seen ? 1 : 0;
  }
  return count;
}

// With zero scores and one-hot values each element is a count over a count, exactly: it tells which
// keys were seen and how many entered the denominator.
void expect_exact_sets(const CpuTensors& tensors) {
  const Shape& shape = static_cast<const BlockProblem&>(*tensors.problem).shape();
  for (std::int64_t row = 0; row < shape.num_rows(); ++row) {
    const auto context = at<std::int32_t>(tensors, kLengths, row / shape.width);
    std::int64_t total = 0;
    std::vector<std::int64_t> counts;
    for (std::int64_t d = 0; d < shape.dim; ++d) {
      counts.push_back(num_seen(shape, context, row % shape.width, d));
      total += counts.back();
    }
    for (std::int64_t head = 0; head < shape.num_heads; ++head) {
      for (std::int64_t d = 0; d < shape.dim; ++d) {
        const float expected =
            static_cast<float>(counts[static_cast<std::size_t>(d)]) / static_cast<float>(total);
        const std::int64_t index = (row * shape.num_heads + head) * shape.dim + d;
        ASSERT_EQ(at<float>(tensors, kResult, index), expected)
            << "row " << row << " context " << context << " dim " << d;
        ASSERT_EQ(at<std::uint16_t>(tensors, kOut, index), attention::to_bf16(expected));
      }
    }
  }
}

TEST(BlockAttention, SeesExactlyItsKeysAtEveryLength) {
  for (const std::string_view variant : {kModel, kFp32}) {
    for (const std::string dim : {"128", "256"}) {
      for (const std::string causal : {"no", "yes"}) {
        expect_exact_sets(run({{"data", "one_hot_v"},
                               {"lengths", "ramp"},
                               {"context", "257"},
                               {"streams", "258"},
                               {"heads", "2"},
                               {"kv_heads", "1"},
                               {"width", causal == "yes" ? "3" : "2"},
                               {"dim", dim},
                               {"window", "-1"},
                               {"causal", causal}},
                              variant));
      }
    }
  }
}

TEST(BlockAttention, SeesExactlyItsKeysInEveryWindow) {
  for (const std::string width : {"2", "7", "16"}) {
    const int rows = std::stoi(width);
    for (const int window : {0, 1, rows - 1, rows, rows + 1, 62, 63, 99, 100, 101}) {
      for (const std::string causal : {"no", "yes"}) {
        expect_exact_sets(run({{"data", "one_hot_v"},
                               {"context", "100"},
                               {"heads", "2"},
                               {"kv_heads", "2"},
                               {"width", width},
                               {"window", std::to_string(window)},
                               {"causal", causal},
                               {"slack", "20"}}));
      }
    }
  }
  for (const std::string window : {"2047", "2048"}) {
    for (const std::string context : {"2047", "2048", "2100", "4105"}) {
      expect_exact_sets(run({{"data", "one_hot_v"},
                             {"context", context},
                             {"heads", "1"},
                             {"kv_heads", "1"},
                             {"width", "16"},
                             {"window", window}}));
    }
  }
}

// An extra lane in the denominator would be 1 part in 260.
TEST(BlockAttention, IsTheMeanOfTheVisibleValuesWhereScoresAreZero) {
  const CpuTensors tensors = run({{"data", "zero_qk"},
                                  {"lengths", "ramp"},
                                  {"context", "257"},
                                  {"streams", "258"},
                                  {"heads", "2"},
                                  {"kv_heads", "1"},
                                  {"width", "2"},
                                  {"causal", "yes"}});
  const Reference mean = tensors.problem->reference(kOut);
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    // Of the tolerance, 2^-7 * sum p|v| is nearly all.
    ASSERT_NEAR(at<float>(tensors, kResult, static_cast<std::int64_t>(i)),
                mean.values[i],
                mean.tolerances[i] * 0.005);
  }
}

TEST(BlockAttention, OfNoStreamsWritesNothing) {
  const CpuTensors tensors = run({{"streams", "0"}});
  ASSERT_EQ(tensors.bytes.size(), kNumTensors);
  EXPECT_TRUE(tensors.bytes[kOut].empty());
}

// Variants judged as a check judges them.
TEST(BlockAttention, StaysWithinTheTolerance) {
  for (const std::string_view variant : {kModel, kFp32}) {
    for (const std::string data : {"normal", "planted", "large_logits", "cancelling", "tiny"}) {
      EXPECT_LT(tolerance_used(run({{"data", data},
                                    {"heads", "12"},
                                    {"kv_heads", "1"},
                                    {"streams", "4"},
                                    {"lengths", "mixed"},
                                    {"first_stream", "1"},
                                    {"window", "300"}},
                                   variant)),
                0.7)
          << variant << " " << data;
    }
  }
}

// A window or a causal edge that is off by one is far outside the tolerance of planted keys, in
// every row: the share of one key is about a tenth.
TEST(BlockAttention, PlantedKeysShowOneKeyMoreOrLess) {
  const std::vector<Setting> base = {
      {"data", "planted"}, {"heads", "2"}, {"kv_heads", "1"}, {"width", "16"}, {"context", "2600"}};
  const auto with = [&](std::string window, std::string causal) {
    std::vector<Setting> axes = base;
    axes.emplace_back("window", std::move(window));
    axes.emplace_back("causal", std::move(causal));
    return axes;
  };
  // Keys are planted by the window, so the neighbour's call is judged on the bytes of this one.
  const CpuTensors right = run(with("2047", "yes"));
  const Reference expected = right.problem->reference(kOut);
  for (const auto& [window, causal] : {std::pair("2046", "yes"), {"2047", "no"}}) {
    CpuTensors wrong =
        make_tensors(block_attention(), make_workload(block_attention(), with(window, causal)));
    for (std::size_t tensor = 0; tensor < kOut; ++tensor) {
      wrong.bytes[tensor] = right.bytes[tensor];
    }
    const CpuTensors found = run_variant_on(block_attention(), &wrong, kModel, {});
    for (std::int64_t row = 0; row < 15; ++row) {
      double worst = 0;
      for (std::int64_t i = row * 2 * 128; i < (row + 1) * 2 * 128; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const float value = attention::from_bf16(at<std::uint16_t>(found, kOut, i));
        worst =
            std::max(worst, std::fabs(value - expected.values[place]) / expected.tolerances[place]);
      }
      EXPECT_GT(worst, 3) << window << " " << causal << " row " << row;
    }
  }
}

// Memory that is only there where it is touched.
class SparseBuffer {
 public:
  explicit SparseBuffer(std::size_t size_bytes)
      : size_bytes_(size_bytes),
        bytes_(mmap(nullptr,
                    size_bytes,
                    PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1,
                    0)) {}

  ~SparseBuffer() {
    if (is_there()) {
      munmap(bytes_, size_bytes_);
    }
  }

  SparseBuffer(const SparseBuffer&) = delete;
  SparseBuffer& operator=(const SparseBuffer&) = delete;

  bool is_there() const { return bytes_ != MAP_FAILED; }

  std::byte* bytes() const { return static_cast<std::byte*>(bytes_); }

 private:
  std::size_t size_bytes_;
  void* bytes_;
};

TEST(BlockAttention, ReadsContextsPastTwoGigaElements) {
  std::vector<Setting> axes = {{"context", "600"}, {"heads", "4"}, {"kv_heads", "2"}};
  const CpuTensors expected = run(axes);
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 8;
  axes.emplace_back("base_offset", std::to_string(kFar));
  CpuTensors far = {.problem = make_problem(make_workload(block_attention(), axes)), .bytes = {}};

  const std::size_t size = expected.bytes[kKContext].size();
  const SparseBuffer k(static_cast<std::size_t>(kFar) * 2 + size);
  const SparseBuffer v(static_cast<std::size_t>(kFar) * 2 + size);
  if (!k.is_there() || !v.is_there()) {
    GTEST_SKIP() << "no address space for two sparse buffers of 4 GiB";
  }
  std::memcpy(k.bytes() + kFar * 2, expected.bytes[kKContext].data(), size);
  std::memcpy(v.bytes() + kFar * 2, expected.bytes[kVContext].data(), size);
  std::vector<void*> pointers;
  for (std::size_t tensor = 0; tensor < kNumTensors; ++tensor) {
    const bool is_context = tensor == kKContext || tensor == kVContext;
    const std::int64_t length = num_bytes(far.problem->tensors()[tensor]);
    far.bytes.emplace_back(is_context ? 0U : static_cast<std::size_t>(length), kPoison);
    if (tensor < kOut && !is_context) {
      far.problem->fill_input(tensor, far.bytes[tensor].data());
    }
    pointers.push_back(far.bytes[tensor].data());
  }
  pointers[kKContext] = k.bytes();
  pointers[kVContext] = v.bytes();
  const CpuVariant& variant = block_attention().cpu_variants.front();
  const Call call = {.problem = far.problem.get(),
                     .tensors = pointers.data(),
                     .parameters = make_parameters(variant.parameters, {}),
                     .trace = nullptr};
  for (const Stage<CpuLaunch>& stage : variant.stages) {
    const absl::Status status = stage.launch(call);
    ASSERT_TRUE(status.ok()) << status;
  }
  EXPECT_EQ(first_difference(expected, far), "");
}

}  // namespace
}  // namespace assay::kernels::block_attention
