#include "kernels/qsa_decode/reference.h"

#include "kernels/numerics.h"
#include "kernels/qsa_decode/contract.h"
#include "tests/kernels/cpu_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace assay::kernels::qsa_decode {
namespace {

template <class Value>
Value at(const CpuTensors& tensors, Tensor tensor, std::int64_t index) {
  Value value;
  std::memcpy(&value,
              tensors.bytes[tensor].data() + index * static_cast<std::int64_t>(sizeof(Value)),
              sizeof(Value));
  return value;
}

// One dim of a row, read from the bytes that kernels read.
double value_at(const CpuTensors& tensors, KvFormat kv, bool is_key, std::int64_t row, int dim) {
  const Tensor values = is_key ? kK : kV;
  if (kv == KvFormat::kFp16) {
    return half_to_float(at<std::uint16_t>(tensors, values, row * kHeadDim + dim));
  }
  if (kv == KvFormat::kInt8 || (kv == KvFormat::kK8V4 && is_key)) {
    const auto scale = at<std::uint16_t>(tensors, is_key ? kKScales : kVScales, row * 4 + dim / 64);
    return double{half_to_float(scale)} * at<std::int8_t>(tensors, values, row * kHeadDim + dim);
  }
  const std::int64_t block = row * kQ4RowBytes + std::int64_t{dim / 32} * 18;
  const int low = at<std::uint8_t>(tensors, values, block);
  const int high = at<std::uint8_t>(tensors, values, block + 1);
  const int pair = at<std::uint8_t>(tensors, values, block + 2 + dim % 16);
  const int nibble = dim % 32 < 16 ? pair & 15 : pair >> 4;
  return double{half_to_float(static_cast<std::uint16_t>(low | (high << 8)))} * (nibble - 8);
}

// From the tables as a kernel sees them, without a maximum taken off: scores are small here.
double brute_force(
    const CpuTensors& tensors, const Shape& shape, std::int64_t query, int head, int dim) {
  const std::int32_t width = at<std::int32_t>(tensors, kSteps, query * 4 + 3);
  double sum = 0;
  double total = 0;
  for (std::int32_t entry = 0; entry < std::min(width, shape.cap); ++entry) {
    const auto cell = at<std::int32_t>(tensors, kIds, query * shape.cap + entry);
    const auto page = at<std::int32_t>(tensors, kPageTable, cell / shape.page_size);
    if (page < 0) {
      continue;
    }
    const std::int64_t row = (std::int64_t{page} * kNumKvHeads + head / kGroup) * shape.page_size +
                             cell % shape.page_size;
    double score = 0;
    for (int d = 0; d < kHeadDim; ++d) {
      score += double{at<float>(tensors, kQ, (query * kNumHeads + head) * kHeadDim + d)} *
               value_at(tensors, shape.kv, true, row, d);
    }
    const double weight = std::exp(score / 16);
    total += weight;
    sum += weight * value_at(tensors, shape.kv, false, row, dim);
  }
  return total > 0 ? sum / total : 0;
}

TEST(Reference, AgreesWithBruteForceOverTheTensors) {
  const Operator& op = *find_operator("qsa_decode");
  for (const std::string kv : {"fp16", "int8", "q4_0", "k8v4"}) {
    const CpuTensors tensors = make_tensors(op,
                                            make_workload(op,
                                                          {{"kv", kv},
                                                           {"n_q", "2"},
                                                           {"width", "70"},
                                                           {"cap", "128"},
                                                           {"page_size", "1"},
                                                           {"resident", "cells"},
                                                           {"select", "repeats"},
                                                           {"spread", "falling"}}));
    const Shape& shape = static_cast<const QsaProblem&>(*tensors.problem).shape();
    const Reference reference = tensors.problem->reference(kOut);
    for (std::int64_t query = 0; query < 2; ++query) {
      for (int head = 0; head < kNumHeads; head += 5) {
        for (int dim = 0; dim < kHeadDim; dim += 37) {
          const auto index = static_cast<std::size_t>((query * kNumHeads + head) * kHeadDim + dim);
          const double expected = brute_force(tensors, shape, query, head, dim);
          ASSERT_NEAR(reference.values[index], expected, 1e-9 * (1 + std::fabs(expected))) << kv;
        }
      }
    }
  }
}

TEST(Reference, ToleranceGrowsWithTheChainAndTheScores) {
  ReferenceInput input;
  input.q.assign(kNumHeads * kHeadDim, 0.0F);
  input.visible = {{0, 1}};
  input.num_live_chunks = {1};
  input.read_row = [](std::int32_t, int, bool, std::span<double, kHeadDim> values) {
    std::ranges::fill(values, 1.0);
  };
  // Zero scores and values of one: u * (90 + 2 * chunks), and nothing for the scores.
  const Reference plain = qsa_decode_reference(input);
  EXPECT_EQ(plain.values[0], 1.0);
  EXPECT_NEAR(plain.tolerances[0], 92 * 0x1p-24, 1e-12);
  input.num_live_chunks = {10};
  EXPECT_NEAR(qsa_decode_reference(input).tolerances[0], 110 * 0x1p-24, 1e-12);
  std::ranges::fill(input.q, 0.5F);
  EXPECT_NEAR(qsa_decode_reference(input).tolerances[0], (110 + 44 * 8) * 0x1p-24, 1e-12);
}

}  // namespace
}  // namespace assay::kernels::qsa_decode
