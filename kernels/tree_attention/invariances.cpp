#include "kernels/tree_attention/invariance_pairs.h"
#include "kernels/tree_attention/problem.h"
#include "kernels/tree_attention/workloads.h"

#include <vector>

namespace assay::kernels::tree_attention {
namespace {

template <Pairs (*kMake)()>
const Pairs& made() {
  static const Pairs pairs = kMake();
  return pairs;
}

template <Pairs (*kMake)()>
InvariancePair pair_of(std::int64_t index) {
  return made<kMake>()[static_cast<std::size_t>(index)];
}

template <Pairs (*kMake)()>
Invariance invariance(std::string_view name, std::string_view help) {
  return {.name = name,
          .help = help,
          .num_pairs = std::ssize(made<kMake>()),
          .pair = &pair_of<kMake>,
          .matched = &matched_rows};
}

}  // namespace

std::span<const Invariance> invariances() {
  static const std::vector<Invariance> all = [] {
    std::vector<Invariance> table = {
        invariance<&alone_equals_batch>("alone_equals_batch", "a stream alone or beside others"),
        invariance<&mixed_streams>(
            "mixed_streams", "each of nine streams of 1 to 16 rows and 0 to 2,600 keys alone"),
        invariance<&long_beside_short>("long_beside_short", "20,000 keys beside none"),
        invariance<&neighbour_varied>("neighbour_varied",
                                      "a neighbour of 0 to 128 rows and 0 to 20,000 keys"),
        invariance<&streams_permuted>("streams_permuted", "the streams in another order"),
        invariance<&rows_shifted>("rows_shifted",
                                  "a row at another place of its stream or of the call"),
        invariance<&node_equals_serial>(
            "node_equals_serial", "each row of a tree with its ancestors committed, as one row"),
        invariance<&chain_across_group_edge>("chain_across_group_edge",
                                             "the same for chains that begin at a group's edge"),
        invariance<&masked_equals_unmasked>(
            "masked_equals_unmasked", "a group partly on the path, then committed and unmasked"),
        invariance<&accepted_path>("accepted_path",
                                   "the rows below an accepted path, before and after it"),
        invariance<&tree_then_no_tree>("tree_then_no_tree",
                                       "calls with and without a tree on one workspace"),
        invariance<&slack_and_garbage>("slack_and_garbage",
                                       "cache entries behind the committed keys"),
        invariance<&base_offset>("base_offset", "K and V at multiples of 16 bytes"),
        invariance<&far_offsets>("far_offsets", "K and V past 2^31 elements"),
        invariance<&padded_plan>("padded_plan", "partials sized for a longer context"),
        invariance<&repeats>("repeats", "the same call 100 times"),
        invariance<&one_shared_block>("one_shared_block", "one block walks every group"),
        invariance<&long_grid>("long_grid", "a grid sized for 262,144 keys"),
        invariance<&one_warp>("one_warp", "a block for each slice"),
        invariance<&sm_count>("sm_count", "launch rules of another number of SMs"),
    };
    static constexpr std::string_view kCudaArms[] = {"direct", "staged", "wide", "warpgroup"};
    for (Invariance& item : table) {
      if (item.name == "repeats") {
        item.num_repeats = 100;
      } else if (item.name == "far_offsets") {
        item.arms = kCudaArms;
      }
    }
    return table;
  }();
  return all;
}

}  // namespace assay::kernels::tree_attention
