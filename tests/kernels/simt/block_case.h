// A small call of block_attention for the SIMT machine: tensors in host memory, everything that
// must not be read poisoned with NaN, and what the bit contract gives.
#pragma once

#include "kernels/block_attention/contract.h"
#include "tests/kernels/simt/attention_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels::block_attention {

struct CaseSetup {
  std::int32_t dim = 128;
  std::int32_t num_heads = 3;
  std::int32_t num_kv_heads = 1;
  std::int32_t width = 7;
  std::int32_t window = INT32_MAX;
  bool is_causal = false;
  std::vector<std::int32_t> contexts;
  std::uint64_t seed = 1;
};

class BlockCase {
 public:
  explicit BlockCase(CaseSetup setup, simt::Step step = attention::chain_step);

  const Shape& shape() const { return shape_; }

  // Of the context's K and of its V.
  std::int64_t num_context_elements() const { return std::ssize(k_context_); }

  Params params();
  void poison();

  // What differs from the contract, first difference first; empty: nothing.
  std::string difference(bool leaves_partials = false, bool has_result = true) const;

 private:
  void fill();
  bool is_seen(std::int32_t stream, std::int32_t key) const;
  attention::KeyRange range_of(std::int32_t context, std::int32_t row) const;
  attention::ModelRow model_row(std::int32_t row, std::int32_t head) const;

  CaseSetup setup_;
  simt::Step step_;
  Shape shape_;
  std::vector<std::uint16_t> q_, k_block_, v_block_, k_context_, v_context_, out_;
  std::vector<std::int64_t> table_;
  std::vector<float> result_, partial_m_, partial_l_, partial_o_, run_m_, run_l_, run_o_, slice_m_,
      slice_l_, slice_o_;
  std::vector<attention::ModelResult> wanted_;
};

}  // namespace assay::kernels::block_attention
