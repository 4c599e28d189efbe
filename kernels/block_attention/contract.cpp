#include "kernels/block_attention/contract.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::kernels::block_attention {
namespace {

constexpr std::string_view kDims[] = {"128", "256"};
constexpr std::string_view kLengthKinds[] = {"equal", "ramp", "edges", "mixed", "alternating"};
constexpr std::string_view kNoYes[] = {"no", "yes"};
constexpr std::string_view kFillings[] = {"nan", "inf", "random"};
constexpr std::string_view kOrders[] = {"ascending", "descending"};
constexpr std::string_view kDataKinds[] = {"normal",
                                           "zero_qk",
                                           "one_hot_v",
                                           "planted",
                                           "large_logits",
                                           "constant_logits",
                                           "cancelling",
                                           "tiny"};

// Offsets are in 16-byte units.
constexpr std::int64_t kOffsetUnit = 8;

constexpr AxisInfo kAxes[] = {
    {.name = "heads", .help = "query heads", .default_value = "32", .min = 1, .max = 256},
    {.name = "kv_heads",
     .help = "key heads; at most 16 query heads each",
     .default_value = "8",
     .min = 1,
     .max = 256},
    {.name = "dim",
     .help = "elements of a head's query, key or value",
     .default_value = "128",
     .choices = kDims},
    {.name = "streams",
     .help = "sequences in a call, each with a context of its own",
     .default_value = "1",
     .min = 0,
     .max = 1'024},
    {.name = "width",
     .help = "rows of a stream's block",
     .default_value = "8",
     .min = kLeastWidth,
     .max = kMostWidth},
    {.name = "context",
     .help = "context keys of a stream",
     .default_value = "4096",
     .min = 0,
     .max = 4'194'304},
    {.name = "lengths",
     .help =
         "context keys over the streams: all `context`; 0, 1, 2 and so on up to `context`; 0, 7, "
         "context - 1 and context in turn; 0, 1, 100, 511, 512, 513, 1300 and 2600 in turn; "
         "`context` and 0 in turn",
     .default_value = "equal",
     .choices = kLengthKinds},
    {.name = "window",
     .help = "distance from a row to the oldest context key that it sees; -1: none is too old",
     .default_value = "2047",
     .min = -1,
     .max = INT32_MAX},
    {.name = "causal",
     .help = "whether a row sees only the block's keys up to its own",
     .default_value = "no",
     .choices = kNoYes},
    {.name = "slack",
     .help = "keys that a head's buffer holds beyond its context; 0: packed",
     .default_value = "0",
     .min = 0,
     .max = 1'048'576},
    {.name = "unread",
     .help = "what fills the context's buffers where no row looks",
     .default_value = "nan",
     .choices = kFillings},
    {.name = "data",
     .help =
         "values: near normal; scores of zero; as before with one-hot values; keys with a large "
         "share at the window's, the block's and a group's edges; scores to 1e5; all scores "
         "-6.7e4; values that cancel; values about the least normal number",
     .default_value = "normal",
     .choices = kDataKinds},
    {.name = "base_offset",
     .help = "elements before the first context, a multiple of 8",
     .default_value = "0",
     .min = 0,
     .max = 4'294'967'288},
    {.name = "first_stream",
     .help = "number of the call's first stream; a stream's number decides its length and values",
     .default_value = "0",
     .min = 0,
     .max = 1'023},
    {.name = "order",
     .help = "order of the streams in the call",
     .default_value = "ascending",
     .choices = kOrders},
};

}  // namespace

std::span<const AxisInfo> axes() {
  return kAxes;
}

const Shape& shape_of(const Call& call) {
  return static_cast<const BlockProblem*>(call.problem)->shape();
}

attention::TunedItems tuned_of(const Call& call) {
  return static_cast<const BlockProblem*>(call.problem)->tuned();
}

Params params_of(const Call& call) {
  const Shape& shape = shape_of(call);
  const auto halves = [&](Tensor tensor) {
    return static_cast<std::uint16_t*>(call.tensors[tensor]);
  };
  const auto floats = [&](Tensor tensor) { return static_cast<float*>(call.tensors[tensor]); };
  return {
      .q = halves(kQ),
      .k_block = halves(kKBlock),
      .v_block = halves(kVBlock),
      .k_context = halves(kKContext),
      .v_context = halves(kVContext),
      .table = static_cast<const std::int64_t*>(call.tensors[kTable]),
      .lengths = static_cast<const std::int32_t*>(call.tensors[kLengths]),
      .out = halves(kOut),
      .result = floats(kResult),
      .partial_m = floats(kPartialM),
      .partial_l = floats(kPartialL),
      .partial_o = floats(kPartialO),
      .run_m = floats(kRunM),
      .run_l = floats(kRunL),
      .run_o = floats(kRunO),
      .slice_m = floats(kSliceM),
      .slice_l = floats(kSliceL),
      .slice_o = floats(kSliceO),
      .num_streams = shape.num_streams,
      .width = shape.width,
      .num_heads = shape.num_heads,
      .num_kv_heads = shape.num_kv_heads,
      .num_groups = shape.num_groups,
      .window = shape.window,
      .is_causal = shape.is_causal,
      .scale = shape.scale,
  };
}

attention::KeyRange visible_range(const Shape& shape, std::int32_t context, std::int32_t row) {
  const std::int64_t oldest = std::int64_t{context} + row - shape.window;
  const std::int64_t begin = std::clamp<std::int64_t>(oldest, 0, context);
  return {.begin = static_cast<std::int32_t>(begin),
          .end = context + (shape.is_causal ? row + 1 : shape.width)};
}

attention::StreamLoad load_of(const Shape& shape, std::int32_t context) {
  return {
      shape.width,
      {visible_range(shape, context, 0).begin, visible_range(shape, context, shape.width - 1).end}};
}

absl::Status check_shape(const Shape& shape, std::span<const std::int64_t> table) {
  if (shape.dim != 128 && shape.dim != 256) {
    return absl::InvalidArgumentError(absl::StrCat("dim: ", shape.dim, " is not 128 or 256"));
  }
  if (shape.num_kv_heads < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("kv_heads: ", shape.num_kv_heads, " is not at least 1"));
  }
  if (shape.num_heads < 1 || shape.num_heads % shape.num_kv_heads != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "heads: ", shape.num_heads, " is not a multiple of kv_heads ", shape.num_kv_heads));
  }
  if (shape.group() > attention::kMostHeadsPerKey) {
    return absl::InvalidArgumentError(absl::StrCat("heads: ",
                                                   shape.group(),
                                                   " query heads of a key head, at most ",
                                                   attention::kMostHeadsPerKey,
                                                   " are allowed"));
  }
  if (shape.width < kLeastWidth || shape.width > kMostWidth) {
    return absl::InvalidArgumentError(
        absl::StrCat("width: ", shape.width, " is outside [", kLeastWidth, ", ", kMostWidth, "]"));
  }
  if (shape.num_streams < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("streams: ", shape.num_streams, " is not at least 0"));
  }
  if (shape.window < 0) {
    return absl::InvalidArgumentError(absl::StrCat("window: ", shape.window, " is not at least 0"));
  }
  constexpr std::string_view kColumns[] = {"k offset", "v offset", "head stride"};
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i] < 0 || table[i] % kOffsetUnit != 0) {
      return absl::InvalidArgumentError(absl::StrCat("table[",
                                                     i / 3,
                                                     "].",
                                                     std::string(kColumns[i % 3]),
                                                     ": ",
                                                     table[i],
                                                     " is not a multiple of ",
                                                     kOffsetUnit,
                                                     " elements"));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::kernels::block_attention
