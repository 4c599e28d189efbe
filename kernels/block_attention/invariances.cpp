#include "kernels/block_attention/matched_rows.h"
#include "kernels/block_attention/workloads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace assay::kernels::block_attention {
namespace {

using Row = std::vector<Setting>;

InvariancePair pair_of(std::string name, Row common, const Row& left, const Row& right) {
  if (std::ranges::find(common, "heads", &Setting::first) == common.end() &&
      std::ranges::find(left, "heads", &Setting::first) == left.end()) {
    common.insert(common.end(), {{"heads", "6"}, {"kv_heads", "1"}});
  }
  const auto joined = [&](const Row& more) {
    Row row = common;
    row.insert(row.end(), more.begin(), more.end());
    return complete_workload(std::move(row), 4'000);
  };
  return {.name = std::move(name),
          .left = joined(left),
          .right = joined(right),
          .left_arm = {},
          .right_arm = {}};
}

std::string text_of(std::int64_t number) {
  return absl::StrCat(number);
}

std::string_view causal_of(std::int64_t index) {
  return index % 2 == 0 ? "no" : "yes";
}

std::string_view dim_of(std::int64_t index) {
  return index % 2 == 0 ? "128" : "256";
}

InvariancePair alone_equals_batch(std::int64_t index) {
  const std::string stream = text_of(index / 2);
  return pair_of(absl::StrCat("stream ", stream, ", causal=", std::string(causal_of(index))),
                 {{"lengths", "mixed"},
                  {"window", "1200"},
                  {"causal", std::string(causal_of(index))},
                  {"dim", std::string(dim_of(index / 2))}},
                 {{"streams", "1"}, {"first_stream", stream}},
                 {{"streams", "8"}});
}

InvariancePair streams_permuted(std::int64_t index) {
  return pair_of(absl::StrCat("dim=", std::string(dim_of(index))),
                 {{"lengths", "mixed"}, {"streams", "8"}, {"dim", std::string(dim_of(index))}},
                 {{"order", "ascending"}},
                 {{"order", "descending"}});
}

InvariancePair neighbour_varied(std::int64_t index) {
  // The stream that is watched has number 2: 600 keys, 100 in the mixed call.
  static const std::array<Row, 5> neighbours = {{
      {{"lengths", "alternating"}, {"streams", "2"}},
      {{"lengths", "equal"}, {"streams", "3"}, {"order", "descending"}},
      {{"lengths", "alternating"}, {"streams", "31"}},
      {{"lengths", "edges"}, {"streams", "2"}, {"context", "601"}},
      {{"lengths", "mixed"}, {"streams", "6"}},
  }};
  const Row& right = neighbours[static_cast<std::size_t>(index)];
  Row left = {{"streams", "1"}};
  Row common = {{"first_stream", "2"}, {"window", "550"}};
  if (index == 4) {
    left.emplace_back("context", "100");
  } else if (index == 3) {
    left.emplace_back("context", "600");
  } else {
    common.emplace_back("context", "600");
  }
  return pair_of(absl::StrCat("neighbours ", index), common, left, right);
}

InvariancePair long_beside_short(std::int64_t index) {
  const std::int64_t context = index == 0 ? 5'000 : 40'000;
  return pair_of(absl::StrCat("an empty context beside ", context, " keys"),
                 {{"lengths", "alternating"}, {"window", "-1"}, {"width", "2"}},
                 {{"streams", "1"}, {"first_stream", "1"}},
                 {{"streams", "2"}, {"context", text_of(context)}});
}

InvariancePair garbage_outside_window(std::int64_t index) {
  constexpr std::array<std::string_view, 2> kOthers = {"random", "inf"};
  constexpr std::array<std::string_view, 3> kWindows = {"40", "127", "600"};
  const std::string window(kWindows[static_cast<std::size_t>(index / 4)]);
  const std::string other(kOthers[static_cast<std::size_t>(index % 2)]);
  const std::string causal(causal_of(index / 2));
  return pair_of(absl::StrCat("window=", window, ", unread=", other, ", causal=", causal),
                 {{"window", window}, {"context", "1300"}, {"slack", "9"}, {"causal", causal}},
                 {{"unread", "nan"}},
                 {{"unread", other}});
}

InvariancePair packed_equals_strided(std::int64_t index) {
  constexpr std::array<std::string_view, 4> kSlack = {"1", "7", "512", "0"};
  const std::string slack(kSlack[static_cast<std::size_t>(index)]);
  return pair_of(absl::StrCat("slack=", slack, ", base_offset=8"),
                 {{"lengths", "edges"},
                  {"context", "1030"},
                  {"streams", "4"},
                  {"heads", "12"},
                  {"kv_heads", "3"}},
                 {},
                 {{"slack", slack}, {"base_offset", "8"}});
}

// The first rows of a block become part of the context: a drafted row equals the serial one.
InvariancePair drafted_equals_serial(std::int64_t index) {
  constexpr std::array<std::int64_t, 8> kContexts = {0, 120, 505, 511, 512, 1'020, 4'090, 8'186};
  const std::int64_t context = kContexts[static_cast<std::size_t>(index / 4)];
  const std::int64_t num_joined =
      std::array<std::int64_t, 4>{1, 6, 7, 14}[static_cast<std::size_t>(index % 4)];
  return pair_of(absl::StrCat("context=", context, ", ", num_joined, " rows joined"),
                 {{"causal", "yes"}, {"window", index % 2 == 0 ? "-1" : "700"}},
                 {{"context", text_of(context)}, {"width", "16"}},
                 {{"context", text_of(context + num_joined)}, {"width", text_of(16 - num_joined)}});
}

InvariancePair narrow_equals_wide(std::int64_t index) {
  constexpr std::array<std::int64_t, 4> kWidths = {2, 5, 8, 15};
  const std::int64_t width = kWidths[static_cast<std::size_t>(index % 4)];
  const std::string context = index < 4 ? "505" : "1024";
  return pair_of(absl::StrCat("width=", width, ", context=", context),
                 {{"causal", "yes"}, {"context", context}, {"window", "300"}},
                 {{"width", text_of(width)}},
                 {{"width", "16"}});
}

// Keys that one call masks by its window or the causal rule and the other does not have to mask.
InvariancePair masked_equals_unmasked(std::int64_t index) {
  if (index < 4) {
    const std::string context =
        std::array{"0", "126", "511", "1500"}[static_cast<std::size_t>(index)];
    return pair_of(absl::StrCat("last row, context=", context),
                   {{"context", context}, {"window", "900"}, {"width", "7"}},
                   {{"causal", "no"}},
                   {{"causal", "yes"}});
  }
  const std::string context = std::array{"90", "500", "2600"}[static_cast<std::size_t>(index - 4)];
  const std::string window = std::array{"95", "507", "2603"}[static_cast<std::size_t>(index - 4)];
  return pair_of(absl::StrCat("context=", context, ", window=", window),
                 {{"context", context}, {"width", "16"}},
                 {{"window", "-1"}},
                 {{"window", window}});
}

InvariancePair fewer_key_heads(std::int64_t index) {
  const std::string group = index == 0 ? "4" : "6";
  return pair_of(absl::StrCat(group, " query heads of a key head"),
                 {{"context", "700"}, {"dim", std::string(dim_of(index))}},
                 {{"heads", group}, {"kv_heads", "1"}},
                 {{"heads", index == 0 ? "16" : "18"}, {"kv_heads", index == 0 ? "4" : "3"}});
}

InvariancePair with_arms(InvariancePair pair, std::string_view left, std::string_view right) {
  pair.left_arm = left;
  pair.right_arm = right;
  return pair;
}

InvariancePair skip_equals_walk(std::int64_t index) {
  constexpr std::array<std::string_view, 3> kTiles = {"16", "32", "64"};
  const std::string tile(kTiles[static_cast<std::size_t>(index % 3)]);
  const std::string window = std::array{"1", "300", "2047"}[static_cast<std::size_t>(index / 3)];
  return with_arms(pair_of(absl::StrCat("window=", window, ", tile=", tile),
                           {{"context", "3000"}, {"window", window}, {"unread", "nan"}},
                           {},
                           {}),
                   absl::StrCat("staged:tile=", tile, ",skip=on"),
                   absl::StrCat("staged:tile=", tile, ",skip=off"));
}

InvariancePair far_offsets(std::int64_t index) {
  const std::string_view arm = std::array<std::string_view, 3>{
      "direct", "staged", "warpgroup"}[static_cast<std::size_t>(index)];
  return with_arms(pair_of(absl::StrCat("base_offset=2147483656, ", std::string(arm)),
                           {{"context", "600"}, {"streams", "2"}},
                           {},
                           {{"base_offset", "2147483656"}}),
                   arm,
                   arm);
}

InvariancePair repeats(std::int64_t index) {
  return pair_of(absl::StrCat("dim=", std::string(dim_of(index))),
                 {{"lengths", "mixed"}, {"streams", "8"}, {"dim", std::string(dim_of(index))}},
                 {},
                 {});
}

}  // namespace

std::span<const Invariance> invariances() {
  static const std::array<Invariance, 13> all = {{
      {.name = "alone_equals_batch",
       .help = "a stream alone equals the stream among eight of other lengths",
       .num_pairs = 16,
       .pair = &alone_equals_batch,
       .matched = &matched_rows},
      {.name = "streams_permuted",
       .help = "streams in the opposite order have the same bits",
       .num_pairs = 2,
       .pair = &streams_permuted,
       .matched = &matched_rows},
      {.name = "neighbour_varied",
       .help = "a stream keeps its bits whatever the number and lengths of the others",
       .num_pairs = 5,
       .pair = &neighbour_varied,
       .matched = &matched_rows},
      {.name = "long_beside_short",
       .help = "a stream without context beside a long one equals the stream alone",
       .num_pairs = 2,
       .pair = &long_beside_short,
       .matched = &matched_rows},
      {.name = "garbage_outside_window",
       .help = "what lies before the windows and behind the context does not matter",
       .num_pairs = 12,
       .pair = &garbage_outside_window},
      {.name = "packed_equals_strided",
       .help =
           "head strides of the context's length or of a capacity, and bases offset by 16 bytes",
       .num_pairs = 4,
       .pair = &packed_equals_strided},
      {.name = "drafted_equals_serial",
       .help = "a causal block's row equals the row whose forerunners are in the context",
       .num_pairs = 32,
       .pair = &drafted_equals_serial,
       .matched = &matched_rows},
      {.name = "narrow_equals_wide",
       .help = "the first rows of a wide causal block equal those of a narrow one",
       .num_pairs = 8,
       .pair = &narrow_equals_wide,
       .matched = &matched_rows},
      {.name = "masked_equals_unmasked",
       .help =
           "a row that sees the same keys has the same bits, whether others are masked or absent",
       .num_pairs = 7,
       .pair = &masked_equals_unmasked,
       .matched = &matched_rows},
      {.name = "fewer_key_heads",
       .help = "a key head alone equals the head among others",
       .num_pairs = 2,
       .pair = &fewer_key_heads,
       .matched = &matched_rows},
      {.name = "skip_equals_walk",
       .help = "tiles outside every row's window skipped or walked over masked",
       .num_pairs = 9,
       .pair = &skip_equals_walk},
      {.name = "far_offsets",
       .help = "contexts past 2^31 elements; its buffers take 8.6 GB",
       .num_pairs = 3,
       .pair = &far_offsets},
      {.name = "repeats",
       .help = "a hundred calls have the same bits",
       .num_pairs = 2,
       .pair = &repeats,
       .num_repeats = 100},
  }};
  return all;
}

}  // namespace assay::kernels::block_attention
