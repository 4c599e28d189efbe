// A small call of tree_attention for the SIMT machine: tensors in host memory, everything that must
// not be read poisoned with NaN, and what the bit contract gives.
#pragma once

#include "kernels/tree_attention/contract.h"
#include "tests/kernels/simt/attention_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {

struct CaseStream {
  std::int32_t committed = 0;
  std::vector<std::int32_t> parents;  // of its rows, local; -1: a root
};

struct CaseSetup {
  std::int32_t dim = 128;
  std::int32_t num_heads = 6;
  std::int32_t num_kv_heads = 2;
  std::vector<CaseStream> streams;
  std::int32_t extra_groups = 0;  // room that a longer context would need
  std::uint64_t seed = 1;
};

std::vector<std::int32_t> chain(std::int32_t num_rows);
std::vector<std::int32_t> star(std::int32_t num_rows);
std::vector<std::int32_t> binary(std::int32_t num_rows);

class TreeCase {
 public:
  explicit TreeCase(CaseSetup setup, simt::Step step = attention::chain_step);

  const Shape& shape() const { return shape_; }

  // Of the cache's K and of its V.
  std::int64_t num_cache_elements() const { return std::ssize(k_cache_); }

  Params params();
  void poison();

  // What differs from the contract, first difference first; empty: nothing. Partials of groups that
  // `leaves_committed` may leave out are not compared.
  std::string difference(bool leaves_committed = false, bool has_result = true) const;

  // The same of slices: all of them, or those from each stream's last whole committed group on.
  std::string slice_difference(bool has_all) const;

 private:
  struct RowData {
    std::int32_t stream;
    std::vector<std::int32_t> path;
  };

  void fill();
  void make_rows();
  attention::ModelRow model_row(std::int32_t row, std::int32_t head) const;

  CaseSetup setup_;
  simt::Step step_;
  Shape shape_;
  std::vector<RowData> rows_;
  std::vector<std::uint16_t> q_, k_rows_, v_rows_, k_cache_, v_cache_, out_;
  std::vector<std::int64_t> table_;
  std::vector<std::int32_t> stream_table_, row_stream_, paths_, depths_, tiles_;
  std::vector<float> result_, partial_m_, partial_l_, partial_o_, run_m_, run_l_, run_o_, slice_m_,
      slice_l_, slice_o_;
  std::vector<attention::ModelResult> wanted_;
};

}  // namespace assay::kernels::tree_attention
