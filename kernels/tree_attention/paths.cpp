#include "kernels/tree_attention/contract.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::kernels::tree_attention {

absl::StatusOr<Paths> make_paths(std::span<const std::int32_t> parents, std::int32_t first_row) {
  if (parents.empty()) {
    return absl::InvalidArgumentError("parents: the stream has no rows");
  }
  Paths made;
  made.paths.assign(parents.size() * kMostDepth, -1);
  made.depths.resize(parents.size());
  for (std::size_t row = 0; row < parents.size(); ++row) {
    const std::int32_t parent = parents[row];
    if (parent < -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("parents[", row, "]: ", parent, " is below -1, which marks a root"));
    }
    if (parent >= static_cast<std::int32_t>(row)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parents[", row, "]: ", parent, " is not before the row itself"));
    }
    // The parent's path, which is there already, and the row itself.
    const auto path = made.paths.begin() + static_cast<std::ptrdiff_t>(row) * kMostDepth;
    std::int32_t depth = 0;
    if (parent >= 0) {
      depth = made.depths[static_cast<std::size_t>(parent)];
      std::copy_n(made.paths.begin() + std::ptrdiff_t{parent} * kMostDepth, depth, path);
    }
    if (depth == kMostDepth) {
      return absl::InvalidArgumentError(absl::StrCat("parents[",
                                                     row,
                                                     "]: the path is ",
                                                     depth + 1,
                                                     " deep, at most ",
                                                     kMostDepth,
                                                     " are allowed"));
    }
    path[depth] = first_row + static_cast<std::int32_t>(row);
    made.depths[row] = depth + 1;
  }
  return made;
}

}  // namespace assay::kernels::tree_attention
