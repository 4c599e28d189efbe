// A scalar model of qsa_decode's bit contract, written from the contract and not from any kernel,
// and small random problems for it.
#pragma once

#include "kernels/numerics.h"
#include "kernels/qsa_decode/contract.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace assay::kernels::qsa_decode {

struct ModelSetup {
  KvFormat kv = KvFormat::kInt8;
  std::int32_t cap = 0;
  std::int32_t page_size = 4;
  std::vector<std::int32_t> widths;  // one a query
  bool step_entry = false;
  int one_masked_page_in = 0;  // 0: all pages are resident
  int masked_chunk = -1;       // a chunk whose cells are all masked
};

// Host bytes of every tensor, in the order of Tensor.
class ModelProblem : public QsaProblem {
 public:
  explicit ModelProblem(const ModelSetup& setup);

  const Shape& shape() const override { return shape_; }

  std::span<const TensorSpec> tensors() const override { return {}; }

  void fill_input(std::size_t tensor, std::byte* bytes) const override {
    std::memcpy(bytes, bytes_[tensor].data(), bytes_[tensor].size());
  }

  std::vector<ElementRange> live(std::size_t) const override { return {}; }

  Reference reference(std::size_t) const override { return {}; }

  std::int64_t min_bytes() const override { return 0; }

  std::int64_t min_flops() const override { return 0; }

  std::size_t num_bytes(std::size_t tensor) const { return bytes_[tensor].size(); }

  template <class T>
  const T* at(Tensor tensor) const {
    return reinterpret_cast<const T*>(bytes_[tensor].data());
  }

  std::int32_t width(int query) const { return at<std::int32_t>(kSteps)[query * 4 + 3]; }

 private:
  template <class T, class Make>
  void fill(Tensor tensor, std::int64_t count, Make make) {
    bytes_[tensor].resize(static_cast<std::size_t>(count) * sizeof(T));
    auto* values = reinterpret_cast<T*>(bytes_[tensor].data());
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = make(i);
    }
  }

  void fill_pool(Tensor codes, Tensor scales, bool is_q4);

  Shape shape_;
  std::mt19937 random_{20261004};
  std::array<std::vector<std::byte>, kNumTensors> bytes_;
};

inline void ModelProblem::fill_pool(Tensor codes, Tensor scales, bool is_q4) {
  const auto draw = [&](unsigned count) { return static_cast<unsigned>(random_()) % count; };
  const std::int64_t rows =
      std::int64_t{shape_.num_physical_pages} * kNumKvHeads * shape_.page_size;
  if (is_q4) {
    // Scales in [1/4, 1/2) of either sign, every nibble.
    fill<std::uint8_t>(codes, rows * kQ4RowBytes, [&](std::int64_t i) {
      const unsigned high = (draw(2) << 7) | 0x34U | draw(4);
      return static_cast<std::uint8_t>(i % 18 == 1 ? high : draw(256));
    });
  } else if (shape_.kv == KvFormat::kFp16) {
    // Magnitudes in [2^-4, 2).
    fill<std::uint16_t>(codes, rows * kHeadDim, [&](std::int64_t) {
      return static_cast<std::uint16_t>((draw(2) << 15) | ((11 + draw(5)) << 10) | draw(1024));
    });
  } else {
    fill<std::int8_t>(codes, rows * kHeadDim, [&](std::int64_t) {
      return static_cast<std::int8_t>(static_cast<int>(draw(255)) - 127);
    });
    fill<std::uint16_t>(scales, rows * 4, [&](std::int64_t) {
      return static_cast<std::uint16_t>((9U << 10) | draw(1024));
    });
  }
}

inline ModelProblem::ModelProblem(const ModelSetup& setup) {
  const auto draw = [&](unsigned count) {
    return static_cast<std::int32_t>(static_cast<unsigned>(random_()) % count);
  };
  constexpr std::int32_t kCells = 1024;
  shape_.kv = setup.kv;
  shape_.cap = setup.cap;
  shape_.num_queries = static_cast<std::int32_t>(setup.widths.size());
  shape_.num_chunks = (setup.cap + kChunk - 1) / kChunk;
  shape_.page_size = setup.page_size;
  shape_.num_logical_pages = kCells / setup.page_size;
  shape_.num_physical_pages = shape_.num_logical_pages;
  shape_.step_entry = setup.step_entry;

  const std::int64_t queries = shape_.num_queries;
  const std::int64_t pages = shape_.num_logical_pages;
  fill<float>(kQ, queries * kNumHeads * kHeadDim, [&](std::int64_t) {
    return (static_cast<float>(draw(1U << 20)) - 524288.0F) / 131072.0F;
  });
  // Pages lie in an order of their own; page 0 is the one that a masked chunk selects.
  fill<std::int32_t>(kPageTable, pages, [&](std::int64_t page) {
    const bool masks = setup.one_masked_page_in != 0 && draw(1000) % setup.one_masked_page_in == 0;
    const bool is_masked = masks || (page == 0 && setup.masked_chunk >= 0);
    return is_masked ? -1 : static_cast<std::int32_t>(pages - 1 - page);
  });
  fill<std::int32_t>(kIds, queries * shape_.cap, [&](std::int64_t i) {
    const std::int64_t chunk = i % shape_.cap / kChunk;
    return chunk == setup.masked_chunk ? draw(static_cast<unsigned>(setup.page_size))
                                       : draw(kCells);
  });
  fill<std::int32_t>(kSteps, queries * 4, [&](std::int64_t i) {
    return i % 4 == 3 ? setup.widths[static_cast<std::size_t>(i / 4)] : -7;
  });
  fill_pool(kK, kKScales, setup.kv == KvFormat::kQ4_0);
  fill_pool(kV, kVScales, setup.kv == KvFormat::kQ4_0 || setup.kv == KvFormat::kK8V4);
  const std::int64_t partials = queries * shape_.num_chunks * kNumHeads;
  fill<float>(kOut, queries * kNumHeads * kHeadDim, [](std::int64_t) { return 0.0F; });
  fill<float>(kAcc, partials * kHeadDim, [](std::int64_t) { return 0.0F; });
  fill<float>(kM, partials, [](std::int64_t) { return 0.0F; });
  fill<float>(kL, partials, [](std::int64_t) { return 0.0F; });
}

// The fp32 value of one dim of a row.
inline float model_value(const std::byte* codes,
                         const std::byte* scales,
                         KvFormat kv,
                         bool is_key,
                         std::int64_t row,
                         int dim) {
  const auto half_at = [](const std::byte* place) {
    std::uint16_t half = 0;
    std::memcpy(&half, place, sizeof(half));
    return half_to_float(half);
  };
  if (kv == KvFormat::kFp16) {
    return half_at(codes + (row * kHeadDim + dim) * 2);
  }
  if (kv == KvFormat::kInt8 || (kv == KvFormat::kK8V4 && is_key)) {
    const auto code = static_cast<std::int8_t>(codes[row * kHeadDim + dim]);
    return static_cast<float>(code) * half_at(scales + (row * 4 + dim / kScaleGroup) * 2);
  }
  const std::byte* block = codes + row * kQ4RowBytes + dim / kQ4Block * 18;
  const int element = dim % kQ4Block;
  const int byte = static_cast<int>(block[2 + element % 16]);
  const int nibble = element < 16 ? byte & 15 : byte >> 4;
  return static_cast<float>(nibble - 8) * half_at(block);
}

// What a call must leave: out, and acc, m, l with `acc_is_live` a chunk.
struct ModelResult {
  std::vector<float> out;
  std::vector<float> acc;
  std::vector<float> m;
  std::vector<float> l;
  std::vector<bool> acc_is_live;  // [num_queries, 2, num_chunks]
};

// Sums the lane values by the tree 16, 8, 4, 2, 1.
inline float model_tree(std::array<float, kLanes> lanes) {
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) {
      lanes[lane] = lanes[lane] + lanes[lane + half];
    }
  }
  return lanes[0];
}

inline void model_chunk(
    const ModelProblem& problem, int query, int kv_head, int chunk, ModelResult& result) {
  const Shape& shape = problem.shape();
  const std::int64_t tile =
      (std::int64_t{query} * kNumKvHeads + kv_head) * shape.num_chunks + chunk;
  std::vector<std::int64_t> rows(kChunk, -1);
  const int cells = std::min(kChunk, problem.width(query) - chunk * kChunk);
  for (int cell = 0; cell < cells; ++cell) {
    const std::int64_t id =
        problem.at<std::int32_t>(kIds)[std::int64_t{query} * shape.cap + chunk * kChunk + cell];
    const std::int64_t page = problem.at<std::int32_t>(kPageTable)[id / shape.page_size];
    if (page >= 0) {
      rows[cell] = (page * kNumKvHeads + kv_head) * shape.page_size + id % shape.page_size;
    }
  }
  result.acc_is_live[tile] = cells > 0;
  const auto widen = [&](bool is_key, std::int64_t row, int dim) {
    const Tensor codes = is_key ? kK : kV;
    const Tensor scales = is_key ? kKScales : kVScales;
    return model_value(
        problem.at<std::byte>(codes), problem.at<std::byte>(scales), shape.kv, is_key, row, dim);
  };

  for (int head = 0; head < kGroup; ++head) {
    const float* q = problem.at<float>(kQ) +
                     ((std::int64_t{query} * kNumKvHeads + kv_head) * kGroup + head) * kHeadDim;
    std::array<float, kChunk> scores;
    float m = kEmptyMark;
    for (int cell = 0; cell < kChunk; ++cell) {
      scores[cell] = kEmptyMark;
      if (rows[cell] < 0) {
        continue;
      }
      std::array<float, kLanes> lanes;
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto k = [&](int i) { return widen(true, rows[cell], lane * kDimsPerLane + i); };
        float sum = k(1) * q[lane * kDimsPerLane + 1];
        for (const int i : {0, 2, 3, 4, 5, 6, 7}) {
          sum = std::fmaf(k(i), q[lane * kDimsPerLane + i], sum);
        }
        lanes[lane] = sum;
      }
      scores[cell] = model_tree(lanes) * kScoreScale + 0.0F;
      m = std::max(m, scores[cell]);
    }
    std::array<float, kChunk> weights;
    for (int cell = 0; cell < kChunk; ++cell) {
      weights[cell] = rows[cell] < 0 ? 0.0F : exp_bits(scores[cell] - m);
    }
    std::array<float, kLanes> lanes;
    for (int lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = weights[lane] + weights[lane + kLanes];
    }
    result.m[tile * kGroup + head] = m;
    result.l[tile * kGroup + head] = model_tree(lanes);
    for (int dim = 0; dim < kHeadDim; ++dim) {
      float acc = 0.0F;
      for (int cell = 0; cell < cells; ++cell) {
        if (rows[cell] >= 0) {
          acc = std::fmaf(weights[cell], widen(false, rows[cell], dim), acc);
        }
      }
      result.acc[(tile * kGroup + head) * kHeadDim + dim] = acc;
    }
  }
}

inline ModelResult model_of(const ModelProblem& problem) {
  const Shape& shape = problem.shape();
  ModelResult result;
  result.out.resize(problem.num_bytes(kOut) / sizeof(float));
  result.acc.resize(problem.num_bytes(kAcc) / sizeof(float));
  result.m.resize(problem.num_bytes(kM) / sizeof(float));
  result.l.resize(problem.num_bytes(kL) / sizeof(float));
  result.acc_is_live.resize(result.m.size() / kGroup);
  for (int query = 0; query < shape.num_queries; ++query) {
    for (int head = 0; head < kNumHeads; ++head) {
      const std::int64_t first =
          (std::int64_t{query} * kNumKvHeads + head / kGroup) * shape.num_chunks;
      float max = kEmptyMark;
      for (int chunk = 0; chunk < shape.num_chunks; ++chunk) {
        if (head % kGroup == 0) {
          model_chunk(problem, query, head / kGroup, chunk, result);
        }
        max = std::max(max, result.m[(first + chunk) * kGroup + head % kGroup]);
      }
      for (int dim = 0; dim < kHeadDim; ++dim) {
        float l = 0.0F;
        float acc = 0.0F;
        for (int chunk = 0; chunk < shape.num_chunks; ++chunk) {
          const std::int64_t partial = (first + chunk) * kGroup + head % kGroup;
          if (result.m[partial] != kEmptyMark) {
            const float weight = exp_bits(result.m[partial] - max);
            l = std::fmaf(result.l[partial], weight, l);
            acc = std::fmaf(result.acc[partial * kHeadDim + dim], weight, acc);
          }
        }
        result.out[(std::int64_t{query} * kNumHeads + head) * kHeadDim + dim] =
            l > 0.0F ? acc / l : 0.0F;
      }
    }
  }
  return result;
}

}  // namespace assay::kernels::qsa_decode
