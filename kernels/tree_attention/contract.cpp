#include "kernels/tree_attention/contract.h"

#include "absl/strings/str_cat.h"

namespace assay::kernels::tree_attention {
namespace {

constexpr std::string_view kDims[] = {"128", "256"};
constexpr std::string_view kLengths[] = {
    "equal", "ladder", "mixed", "alternating", "edges", "neighbours"};
constexpr std::string_view kTrees[] = {
    "chain", "star", "binary", "random", "forest", "levels", "roots"};
constexpr std::string_view kData[] = {"normal",
                                      "zero_qk",
                                      "one_hot_v",
                                      "planted",
                                      "large_logits",
                                      "constant_logits",
                                      "cancelling",
                                      "tiny"};
constexpr std::string_view kUnread[] = {"nan", "inf", "random"};
constexpr std::string_view kViews[] = {
    "whole", "alone", "reversed", "rotated", "path", "node", "subtree", "serial"};

constexpr AxisInfo kAxes[] = {
    {.name = "heads", .help = "query heads", .default_value = "48", .min = 1, .max = 512},
    {.name = "kv_heads",
     .help = "key heads; query head h reads key head h / (heads / kv_heads)",
     .default_value = "4",
     .min = 1,
     .max = 128},
    {.name = "dim", .help = "of a head", .default_value = "128", .choices = kDims},
    {.name = "streams",
     .help = "sequences in a call",
     .default_value = "1",
     .min = 0,
     .max = 1'024},
    {.name = "rows",
     .help = "drafted rows of a stream",
     .default_value = "8",
     .min = 0,
     .max = 1'024},
    {.name = "committed",
     .help = "keys of a stream in the cache",
     .default_value = "4096",
     .min = 0,
     .max = std::int64_t{1} << 22},
    {.name = "lengths",
     .help = "over the streams: all equal; committed / 256, / 32, / 4, / 1 in turn; nine kinds of "
             "up to 16 rows and 2,600 keys cut to `rows` and `committed`; committed and 0 in turn; "
             "committed - 8, - 1, + 0, + 1, + 511 in turn; the first as given beside others of "
             "kinds that begin with number `pick`",
     .default_value = "equal",
     .choices = kLengths},
    {.name = "tree",
     .help = "a stream's rows: one chain; children of the first; row i below (i - 1) / 2; parents "
             "drawn; three chains in turn; levels of ten; all without a parent",
     .default_value = "chain",
     .choices = kTrees},
    {.name = "data",
     .help = "normal; q and k zero; v of a key 1 at one place; keys at borders and on the path "
             "with a share of 1/8; scores up to 1e5; all scores alike and below -6.7e4; large "
             "terms that cancel; v below the normal range",
     .default_value = "normal",
     .choices = kData},
    {.name = "slack",
     .help = "cache entries behind a stream's committed keys, never read",
     .default_value = "16",
     .min = 0,
     .max = 65'536},
    {.name = "unread",
     .help = "what fills cache entries that are never read",
     .default_value = "nan",
     .choices = kUnread},
    {.name = "base_offset",
     .help = "elements before the first stream's keys, a multiple of 8",
     .default_value = "0",
     .min = 0,
     .max = std::int64_t{1} << 32},
    {.name = "plan",
     .help = "keys that the partials are sized for, when more than a row sees",
     .default_value = "0",
     .min = 0,
     .max = std::int64_t{1} << 22},
    {.name = "view",
     .help = "which part of the call is made, same bytes: all; stream `pick` alone; streams in "
             "reverse; streams from number `pick` on, then those before; row `pick` with its "
             "ancestors only; row `pick` with its ancestors committed; the same with its subtree; "
             "every row as a stream of its own with its ancestors committed",
     .default_value = "whole",
     .choices = kViews},
    {.name = "pick",
     .help = "stream, row or number that `view` and lengths=neighbours take",
     .default_value = "0",
     .min = 0,
     .max = std::int64_t{1} << 20},
};

absl::Status refuse_negative(std::string_view field, std::int64_t value) {
  return absl::InvalidArgumentError(absl::StrCat(std::string(field), ": ", value, " is negative"));
}

}  // namespace

std::span<const AxisInfo> axes() {
  return kAxes;
}

const Shape& shape_of(const Call& call) {
  return static_cast<const TreeProblem*>(call.problem)->shape();
}

attention::TunedItems tuned_of(const Call& call) {
  return static_cast<const TreeProblem*>(call.problem)->tuned();
}

Params params_of(const Call& call) {
  const Shape& shape = shape_of(call);
  const auto bf16 = [&](Tensor tensor) {
    return static_cast<const std::uint16_t*>(call.tensors[tensor]);
  };
  const auto table = [&](Tensor tensor) {
    return static_cast<const std::int32_t*>(call.tensors[tensor]);
  };
  const auto sums = [&](Tensor tensor) { return static_cast<float*>(call.tensors[tensor]); };
  return {
      .q = bf16(kQ),
      .k_rows = bf16(kKRows),
      .v_rows = bf16(kVRows),
      .k_cache = bf16(kKCache),
      .v_cache = bf16(kVCache),
      .cache_table = static_cast<const std::int64_t*>(call.tensors[kCacheTable]),
      .stream_table = table(kStreamTable),
      .row_stream = table(kRowStream),
      .paths = table(kPaths),
      .depths = table(kDepths),
      .tiles = table(kTiles),
      .out = static_cast<std::uint16_t*>(call.tensors[kOut]),
      .result = sums(kResult),
      .partial_m = sums(kPartialM),
      .partial_l = sums(kPartialL),
      .partial_o = sums(kPartialO),
      .run_m = sums(kRunM),
      .run_l = sums(kRunL),
      .run_o = sums(kRunO),
      .slice_m = sums(kSliceM),
      .slice_l = sums(kSliceL),
      .slice_o = sums(kSliceO),
      .num_streams = shape.num_streams,
      .num_rows = shape.num_rows,
      .num_heads = shape.num_heads,
      .num_kv_heads = shape.num_kv_heads,
      .num_groups = shape.num_groups,
      .num_tiles = shape.num_tiles,
      .scale = shape.scale,
  };
}

absl::Status check_shape(const Shape& shape, std::span<const std::int64_t> cache_offsets) {
  if (shape.dim != 128 && shape.dim != 256) {
    return absl::InvalidArgumentError(absl::StrCat("dim: ", shape.dim, " is not 128 or 256"));
  }
  if (shape.num_kv_heads < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("kv_heads: ", shape.num_kv_heads, " is not positive"));
  }
  if (shape.num_heads < 1 || shape.num_heads % shape.num_kv_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "heads: ", shape.num_heads, " is not a multiple of kv_heads ", shape.num_kv_heads));
  }
  if (shape.group() > attention::kMostHeadsPerKey) {
    return absl::InvalidArgumentError(absl::StrCat("heads: ",
                                                   shape.group(),
                                                   " query heads for each of ",
                                                   shape.num_kv_heads,
                                                   " kv_heads, at most ",
                                                   attention::kMostHeadsPerKey,
                                                   " are allowed"));
  }
  const std::pair<std::string_view, std::int64_t> counts[] = {{"streams", shape.num_streams},
                                                              {"rows", shape.num_rows},
                                                              {"groups", shape.num_groups},
                                                              {"tiles", shape.num_tiles},
                                                              {"committed", shape.most_committed}};
  for (const auto& [field, count] : counts) {
    if (count < 0) {
      return refuse_negative(field, count);
    }
  }
  for (std::size_t i = 0; i < cache_offsets.size(); ++i) {
    const std::string field = absl::StrCat("cache_table[", i / 2, ", ", i % 2, "]");
    if (cache_offsets[i] < 0) {
      return refuse_negative(field, cache_offsets[i]);
    }
    if (cache_offsets[i] % 8 != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          field, ": offset ", cache_offsets[i], " is not a multiple of 8 elements (16 bytes)"));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::kernels::tree_attention
