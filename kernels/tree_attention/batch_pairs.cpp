#include "kernels/tree_attention/invariance_pairs.h"

namespace assay::kernels::tree_attention {
namespace {

Pairs alone_pairs(const Row& batch, std::int64_t num_streams) {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row row = with(geometry, batch);
    for (std::int64_t stream = 0; stream < num_streams; ++stream) {
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", stream ", stream),
                            row,
                            with(row, view("alone", stream))));
    }
  }
  return pairs;
}

}  // namespace

Pairs alone_equals_batch() {
  return alone_pairs({{"streams", "5"},
                      {"rows", "7"},
                      {"committed", "512"},
                      {"lengths", "edges"},
                      {"tree", "binary"}},
                     5);
}

Pairs mixed_streams() {
  return alone_pairs({{"streams", "9"},
                      {"rows", "16"},
                      {"committed", "2600"},
                      {"lengths", "mixed"},
                      {"tree", "random"}},
                     9);
}

Pairs long_beside_short() {
  return alone_pairs(
      {{"streams", "2"}, {"rows", "3"}, {"committed", "20000"}, {"lengths", "alternating"}}, 2);
}

Pairs neighbour_varied() {
  constexpr int kKinds = 12;
  Pairs pairs;
  for (int kind = 0; kind < kKinds; ++kind) {
    for (const Row& geometry : geometries()) {
      const Row victim =
          with(geometry, with(sized(5, 700), {{"tree", "forest"}, {"lengths", "neighbours"}}));
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", neighbour ", kind),
                            with(victim, {{"streams", "1"}}),
                            with(victim, {{"streams", "2"}, {"pick", text_of(kind)}})));
    }
  }
  return pairs;
}

Pairs streams_permuted() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row batch = with(geometry,
                           {{"streams", "5"},
                            {"rows", "16"},
                            {"committed", "1300"},
                            {"lengths", "mixed"},
                            {"tree", "levels"}});
    pairs.push_back(calls(
        absl::StrCat(dim_text(geometry), ", reversed"), batch, with(batch, view("reversed"))));
    for (const int first : {1, 3}) {
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", stream ", first, " first"),
                            batch,
                            with(batch, view("rotated", first))));
    }
  }
  return pairs;
}

// The same row at another place of its stream, and its stream at another place of the call.
Pairs rows_shifted() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row tree = with(geometry, with(sized(40, 505), {{"tree", "random"}}));
    for (const int row : {1, 17, 39}) {
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", row ", row, " and its ancestors"),
                            tree,
                            with(tree, view("path", row))));
    }
    const Row batch = with(tree, {{"streams", "3"}});
    pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", rows begin at 40 and 80"),
                          with(batch, view("rotated", 1)),
                          with(batch, view("rotated", 2))));
  }
  return pairs;
}

}  // namespace assay::kernels::tree_attention
