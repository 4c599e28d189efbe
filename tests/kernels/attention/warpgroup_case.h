// A small call for the warpgroup form by itself: streams whose last keys may lie outside the maps,
// everything that must not be read poisoned with NaN, and a Source over it. To be included behind
// ASSAY_SIMT and ASSAY_SIMT_WARPGROUP.
#pragma once

#include "kernels/attention/cuda_items.cuh"
#include "kernels/attention/softmax.h"
#include "kernels/inputs.h"
#include "tests/kernels/simt/panel_maps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::kernels::attention {

inline constexpr std::uint16_t kCasePoison = 0x7fff;  // a NaN
inline constexpr std::size_t kFirstElement = 8;       // a base that is only just aligned
inline constexpr float kScale = 0.088388346F;

struct CaseStream {
  std::int32_t num_rows = 0;
  std::int32_t num_keys = 0;
  std::int32_t window = 0;   // masked: row r sees keys [num_keys - window + r, num_keys)
  std::int32_t num_own = 0;  // masked: last keys, which lie outside the maps
};

struct WarpgroupCase {
  int dim = 128;
  int group = 6;  // query heads of a key head
  int num_kv_heads = 2;
  std::vector<CaseStream> streams;
};

inline std::uint16_t random_bf16(std::uint64_t key, std::uint64_t index) {
  return to_bf16(random_normal(key, index));
}

// Keys, values and queries of a case, a margin of NaN around each stream's keys.
class CaseData {
 public:
  explicit CaseData(const WarpgroupCase& given) : case_(given) {
    std::int32_t row = 0;
    for (const CaseStream& stream : given.streams) {
      first_row_.push_back(row);
      row += stream.num_rows;
      const std::int32_t mapped = stream.num_keys - stream.num_own;
      const std::int32_t seen = stream.window > 0 ? stream.num_keys - stream.window : 0;
      mapped_.push_back(mapped);
      offset_.push_back(fill(k_, v_, make_key(7, "mapped"), mapped, std::max(0, seen)));
      own_offset_.push_back(
          fill(k_own_, v_own_, make_key(7, "own"), stream.num_own, std::max(0, seen - mapped)));
    }
    num_rows_ = row;
    q_.resize(static_cast<std::size_t>(row * num_heads() * given.dim));
    for (std::size_t at = 0; at < q_.size(); ++at) {
      q_[at] = random_bf16(make_key(8, "q"), at);
    }
  }

  int num_heads() const { return case_.group * case_.num_kv_heads; }

  std::int32_t total_rows() const { return num_rows_; }

  std::int32_t row(std::int32_t stream, std::int32_t local) const {
    return first_row_[static_cast<std::size_t>(stream)] + local;
  }

  const std::uint16_t* q(std::int32_t row, int head) const {
    return q_.data() + (std::int64_t{row} * num_heads() + head) * case_.dim;
  }

  const std::uint16_t* k(std::int32_t stream, int kv_head, std::int32_t position) const {
    return at(k_, k_own_, stream, kv_head, position);
  }

  const std::uint16_t* v(std::int32_t stream, int kv_head, std::int32_t position) const {
    return at(v_, v_own_, stream, kv_head, position);
  }

  // Of position 0 in the mapped tensors.
  std::int64_t element(std::int32_t stream, int kv_head) const {
    return static_cast<std::int64_t>(offset_[static_cast<std::size_t>(stream)]) +
           std::int64_t{kv_head} * case_.dim;
  }

  std::int32_t mapped(std::int32_t stream) const {
    return mapped_[static_cast<std::size_t>(stream)];
  }

  PanelMaps maps() const {
    return panel_maps_of(k_.data(), v_.data(), std::ssize(k_), row_elements());
  }

 private:
  std::int64_t row_elements() const { return std::int64_t{case_.num_kv_heads} * case_.dim; }

  // Appends that many rows and one of NaN; rows before `seen` are NaN too.
  std::size_t fill(std::vector<std::uint16_t>& k,
                   std::vector<std::uint16_t>& v,
                   std::uint64_t key,
                   std::int32_t num_rows,
                   std::int32_t seen) const {
    const std::size_t first = std::max(k.size(), kFirstElement);
    const auto elements = static_cast<std::size_t>(row_elements());
    const std::size_t end = first + static_cast<std::size_t>(num_rows) * elements;
    k.resize(end + elements, kCasePoison);
    v.resize(end + elements, kCasePoison);
    for (std::size_t at = first + static_cast<std::size_t>(seen) * elements; at < end; ++at) {
      k[at] = random_bf16(key, 2 * at);
      v[at] = random_bf16(key, 2 * at + 1);
    }
    return first;
  }

  const std::uint16_t* at(const std::vector<std::uint16_t>& mapped_rows,
                          const std::vector<std::uint16_t>& own_rows,
                          std::int32_t stream,
                          int kv_head,
                          std::int32_t position) const {
    const std::int32_t own = position - mapped(stream);
    const std::int64_t head = std::int64_t{kv_head} * case_.dim;
    if (own < 0) {
      return mapped_rows.data() + element(stream, kv_head) + position * row_elements();
    }
    return own_rows.data() + own_offset_[static_cast<std::size_t>(stream)] + own * row_elements() +
           head;
  }

  const WarpgroupCase& case_;
  std::vector<std::size_t> offset_;
  std::vector<std::size_t> own_offset_;
  std::vector<std::int32_t> mapped_;
  std::vector<std::int32_t> first_row_;
  std::int32_t num_rows_ = 0;
  std::vector<std::uint16_t> q_;
  std::vector<std::uint16_t> k_;
  std::vector<std::uint16_t> v_;
  std::vector<std::uint16_t> k_own_;
  std::vector<std::uint16_t> v_own_;
};

template <bool kMasked>
struct TestSource {
  static constexpr bool kIsMasked = kMasked;

  const WarpgroupCase& given;
  const CaseData& data;

  const CaseStream& of(std::int32_t stream) const {
    return given.streams[static_cast<std::size_t>(stream)];
  }

  std::int32_t num_streams() const { return static_cast<std::int32_t>(given.streams.size()); }

  std::int32_t num_kv_heads() const { return given.num_kv_heads; }

  std::int32_t num_heads_per_key() const { return given.group; }

  std::int32_t num_rows(std::int32_t stream) const { return of(stream).num_rows; }

  std::int32_t row(std::int32_t stream, std::int32_t local) const {
    return data.row(stream, local);
  }

  KeyRange keys(std::int32_t stream) const {
    const std::int32_t num_keys = of(stream).num_keys;
    return kMasked ? KeyRange{std::max(0, num_keys - of(stream).window), num_keys}
                   : KeyRange{0, num_keys / kSliceKeys * kSliceKeys};
  }

  KeyRange range(std::int32_t stream, std::int32_t local) const {
    return {std::max(0, of(stream).num_keys - of(stream).window + local), of(stream).num_keys};
  }

  KeyRange common(std::int32_t stream) const { return range(stream, num_rows(stream) - 1); }

  KeyRange mapped(std::int32_t stream) const { return {0, data.mapped(stream)}; }

  std::int32_t num_whole_groups(std::int32_t stream) const {
    return kMasked ? num_groups_of(keys(stream).end) : keys(stream).end / kGroupKeys;
  }

  const std::uint16_t* q_row(std::int32_t row, std::int32_t head) const {
    return data.q(row, head);
  }

  std::int64_t k_at(std::int32_t stream, int kv_head) const {
    return data.element(stream, kv_head);
  }

  std::int64_t v_at(std::int32_t stream, int kv_head) const {
    return data.element(stream, kv_head);
  }

  struct Rows {
    const CaseData& data;
    std::int32_t stream;
    int kv_head;
    bool is_value;

    const std::uint16_t* at(std::int32_t position) const {
      return is_value ? data.v(stream, kv_head, position) : data.k(stream, kv_head, position);
    }
  };

  Rows k_rows(std::int32_t stream, int kv_head) const { return {data, stream, kv_head, false}; }

  Rows v_rows(std::int32_t stream, int kv_head) const { return {data, stream, kv_head, true}; }
};

}  // namespace assay::kernels::attention
