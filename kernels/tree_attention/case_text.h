// Shorthand for the tables of cases: a workload from the axes that are not at their defaults.
#pragma once

#include "kernels/tree_attention/contract.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace assay::kernels::tree_attention {

using Row = std::vector<Setting>;

inline std::string text_of(std::int64_t number) {
  return absl::StrCat(number);
}

// `given` is valid by construction.
inline Workload workload_of(const Row& given, std::uint64_t seed) {
  return {.axes = *complete_settings(axes(), given), .seed = seed};
}

inline Row with(Row row, const Row& more) {
  row.insert(row.end(), more.begin(), more.end());
  return row;
}

// The two geometries that every check covers: 48 heads of dim 128, 24 of dim 256.
inline const std::array<Row, 2>& geometries() {
  static const std::array<Row, 2> both = {{{{"heads", "48"}, {"kv_heads", "4"}, {"dim", "128"}},
                                           {{"heads", "24"}, {"kv_heads", "4"}, {"dim", "256"}}}};
  return both;
}

}  // namespace assay::kernels::tree_attention
