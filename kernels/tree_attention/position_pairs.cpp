#include "kernels/tree_attention/invariance_pairs.h"

namespace assay::kernels::tree_attention {
namespace {

void append_serial(const Row& row, const Size& size, const std::string& tree, Pairs& pairs) {
  const Row whole = with(row, with(sized(size.rows, size.committed), {{"tree", tree}}));
  pairs.push_back(
      calls(absl::StrCat(dim_text(row), ", ", tree, " of ", size.rows, " rows at ", size.committed),
            whole,
            with(whole, view("serial"))));
}

}  // namespace

Pairs node_equals_serial() {
  Pairs pairs;
  for (const Size& size : {Size{1, 0}, {9, 13}, {16, 511}, {32, 512}, {32, 1'003}, {128, 513}}) {
    for (const Row& geometry : geometries()) {
      append_serial(geometry, size, "binary", pairs);
    }
  }
  append_serial({{"heads", "12"}, {"kv_heads", "2"}, {"dim", "128"}}, {128, 499}, "chain", pairs);
  const Row long_tree = with(one_key_head(), with(sized(128, 20'501), {{"tree", "binary"}}));
  for (const int row : {0, 77, 127}) {
    pairs.push_back(calls(absl::StrCat("dim=128, row ", row, " of 128 at 20,501"),
                          long_tree,
                          with(long_tree, view("node", row))));
  }
  return pairs;
}

Pairs chain_across_group_edge() {
  Pairs pairs;
  for (const std::int64_t committed : {504, 511, 512, 513, 1'016, 1'023, 1'024, 1'025}) {
    for (const Row& geometry : geometries()) {
      append_serial(geometry, {16, committed}, "chain", pairs);
    }
  }
  for (const std::int64_t committed : {1'990, 2'040, 2'047, 2'048, 4'095, 6'130, 8'190, 8'191}) {
    append_serial(one_key_head(), {16, committed}, "chain", pairs);
  }
  append_serial(one_key_head(), {128, 500}, "chain", pairs);
  return pairs;
}

// A group's keys under a mask while a part is on the path, and without once all are committed.
Pairs masked_equals_unmasked() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row chain = with(geometry, sized(16, 500));
    for (const int row : {11, 12, 13, 15}) {
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", row ", row, " of 16 at 500"),
                            chain,
                            with(chain, view("node", row))));
    }
  }
  return pairs;
}

// What is drafted below an accepted path.
Pairs accepted_path() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row tree = with(geometry, with(sized(31, 509), {{"tree", "binary"}}));
    for (const int row : {1, 4, 9}) {
      pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", below row ", row),
                            tree,
                            with(tree, view("subtree", row))));
    }
  }
  return pairs;
}

// Calls with and without a tree in turn on one workspace.
Pairs tree_then_no_tree() {
  Pairs pairs;
  for (const Row& geometry : geometries()) {
    const Row tree = with(geometry, with(sized(33, 600), {{"tree", "random"}}));
    const Row single = with(tree, view("node", 20));
    pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", tree then row"), tree, single));
    pairs.push_back(calls(absl::StrCat(dim_text(geometry), ", row then tree"), single, tree));
  }
  return pairs;
}

}  // namespace assay::kernels::tree_attention
