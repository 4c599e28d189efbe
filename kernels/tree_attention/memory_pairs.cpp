#include "kernels/tree_attention/invariance_pairs.h"

namespace assay::kernels::tree_attention {

Pairs slack_and_garbage() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row row = two_streams(geometry);
    for (const std::string unread : {"nan", "inf", "random"}) {
      for (const std::string slack : {"1", "700"}) {
        pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", ", slack, " entries of ", unread),
                              with(row, {{"slack", "0"}}),
                              with(row, {{"slack", slack}, {"unread", unread}})));
      }
    }
  }
  return pairs;
}

Pairs base_offset() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    for (const std::string offset : {"8", "24", "1048"}) {
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", ", offset, " elements"),
                            two_streams(geometry),
                            with(two_streams(geometry), {{"base_offset", offset}})));
    }
  }
  return pairs;
}

Pairs far_offsets() {
  const Row row = two_streams(one_key_head());
  return {calls("past 2^31 elements", row, with(row, {{"base_offset", "2147483656"}}))};
}

Pairs padded_plan() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    for (const Size& size : {Size{1, 0}, {4, 511}, {8, 1'300}}) {
      for (const std::string plan : {"2048", "32768"}) {
        const Row row = with(geometry, sized(size.rows, size.committed));
        pairs.push_back(calls(absl::StrCat(dim_text(geometry),
                                           ", ",
                                           size.rows,
                                           " rows at ",
                                           size.committed,
                                           " in a plan of ",
                                           plan),
                              row,
                              with(row, {{"plan", plan}})));
      }
    }
  }
  return pairs;
}

Pairs repeats() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    pairs.push_back(
        calls(absl::StrCat(dim_text(geometry)), two_streams(geometry), two_streams(geometry)));
  }
  return pairs;
}

}  // namespace assay::kernels::tree_attention
