#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/workloads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace assay::kernels::block_attention {
namespace {

using Row = std::vector<Setting>;

constexpr std::array<std::string_view, 2> kNoYes = {"no", "yes"};
constexpr std::array<std::string_view, 2> kDims = {"128", "256"};

std::string text_of(std::int64_t number) {
  return absl::StrCat(number);
}

template <class Value, std::size_t kCount>
Value pick(const std::array<Value, kCount>& values, std::int64_t& index) {
  const Value value = values[static_cast<std::size_t>(index) % kCount];
  index /= std::ssize(values);
  return value;
}

// ---- values/data: every kind of data over eight lengths of context ----

constexpr std::array<std::string_view, 8> kKinds = {"normal",
                                                    "zero_qk",
                                                    "one_hot_v",
                                                    "planted",
                                                    "large_logits",
                                                    "constant_logits",
                                                    "cancelling",
                                                    "tiny"};
constexpr std::array<std::string_view, 3> kUnread = {"nan", "inf", "random"};
constexpr std::int64_t kDataCases = std::ssize(kKinds) * std::ssize(kNoYes) * std::ssize(kDims);

Workload data_case(std::int64_t index) {
  std::int64_t rest = index;
  const std::string_view kind = pick(kKinds, rest);
  const std::string_view causal = pick(kNoYes, rest);
  const std::string_view dim = pick(kDims, rest);
  std::int64_t filling = index;
  return complete_workload({{"heads", dim == "128" ? "12" : "6"},
                            {"kv_heads", "1"},
                            {"dim", std::string(dim)},
                            {"streams", "8"},
                            {"width", causal == "yes" ? "7" : "16"},
                            {"lengths", "mixed"},
                            {"window", "1200"},
                            {"causal", std::string(causal)},
                            {"slack", "5"},
                            {"unread", std::string(pick(kUnread, filling))},
                            {"data", std::string(kind)}},
                           static_cast<std::uint64_t>(index));
}

// ---- values/windows: windows about the width, about 2,048 and about the context ----

constexpr std::array<std::string_view, 3> kTellingKinds = {"planted", "one_hot_v", "normal"};
constexpr std::array<std::int64_t, 3> kWidths = {2, 7, 16};
constexpr std::int64_t kNumWindows = 13;
constexpr std::int64_t kWindowCases =
    kNumWindows * std::ssize(kTellingKinds) * std::ssize(kWidths) * std::ssize(kNoYes);

std::int64_t window_of(std::int64_t kind, std::int64_t width, std::int64_t context) {
  const std::array<std::int64_t, kNumWindows> windows = {
      0, 1, width - 1, width, width + 1, 127, 128, 511, 512, 2'047, 2'048, context, context + 1};
  return windows[static_cast<std::size_t>(kind)];
}

Workload window_case(std::int64_t index) {
  std::int64_t rest = index;
  const std::string_view kind = pick(kTellingKinds, rest);
  const std::int64_t width = pick(kWidths, rest);
  const std::string_view causal = pick(kNoYes, rest);
  // Longer than the window and the block, but for the last two.
  const std::int64_t context = rest < 7 ? 300 : rest < 9 ? 1'100 : rest < 11 ? 2'600 : 523;
  return complete_workload({{"heads", "4"},
                            {"kv_heads", "2"},
                            {"dim", width == 7 ? "256" : "128"},
                            {"width", text_of(width)},
                            {"context", text_of(context)},
                            {"window", text_of(window_of(rest, width, context))},
                            {"causal", std::string(causal)},
                            {"slack", "16"},
                            {"data", std::string(kind)}},
                           1'000 + static_cast<std::uint64_t>(index));
}

// ---- values/lengths: every length to 257 in one call, and one by one to 131,073 ----

const std::vector<Row>& length_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> made;
    for (const std::string_view dim : kDims) {
      for (const std::string_view data : {"zero_qk", "one_hot_v"}) {
        made.push_back({{"dim", std::string(dim)},
                        {"data", std::string(data)},
                        {"lengths", "ramp"},
                        {"context", "257"},
                        {"streams", "258"},
                        {"slack", "1"}});
      }
      for (const std::int64_t context :
           {0, 1, 63, 64, 65, 127, 128, 129, 511, 512, 513, 4'095, 4'096, 4'097, 16'385, 131'073}) {
        made.push_back({{"dim", std::string(dim)},
                        {"context", text_of(context)},
                        {"causal", context % 2 == 0 ? "no" : "yes"},
                        {"window", "-1"},
                        {"width", context < 10'000 ? "16" : "2"}});
      }
    }
    // Query heads of a key head that do not divide a tile of sixteen, and the most.
    for (const std::string_view heads : {"2", "3", "5", "11", "16"}) {
      made.push_back({{"heads", std::string(heads)},
                      {"streams", "3"},
                      {"first_stream", "4"},
                      {"lengths", "mixed"},
                      {"width", "5"}});
    }
    return made;
  }();
  return rows;
}

Workload length_case(std::int64_t index) {
  Row row = length_rows()[static_cast<std::size_t>(index)];
  if (std::ranges::find(row, "heads", &Setting::first) == row.end()) {
    row.emplace_back("heads", "2");
  }
  row.emplace_back("kv_heads", "1");
  return complete_workload(std::move(row), 2'000 + static_cast<std::uint64_t>(index));
}

// ---- parity: launch parameters against the baseline ----

const std::vector<Row>& parity_rows() {
  static const std::vector<Row> rows = {
      {{"streams", "0"}},
      {{"context", "0"}, {"width", "2"}},
      {{"context", "511"}, {"width", "2"}, {"window", "-1"}},
      {{"context", "1500"}, {"window", "700"}, {"width", "7"}, {"causal", "yes"}},
      {{"context", "1500"}, {"window", "129"}, {"width", "16"}, {"slack", "40"}},
      {{"context", "2600"}, {"window", "-1"}, {"dim", "256"}, {"width", "5"}},
      {{"context", "4600"}, {"window", "-1"}, {"width", "3"}, {"causal", "yes"}},
      {{"context", "9000"}, {"window", "8200"}, {"width", "2"}, {"dim", "256"}},
      {{"streams", "8"}, {"lengths", "mixed"}, {"window", "600"}, {"base_offset", "8"}},
      {{"streams", "8"}, {"lengths", "mixed"}, {"dim", "256"}, {"order", "descending"}},
      {{"streams", "4"}, {"lengths", "edges"}, {"context", "1030"}, {"window", "1023"}},
      {{"streams", "3"}, {"lengths", "alternating"}, {"context", "5000"}, {"data", "planted"}},
      {{"heads", "24"}, {"kv_heads", "2"}, {"width", "16"}, {"context", "600"}},
      {{"heads", "16"}, {"kv_heads", "1"}, {"width", "16"}, {"context", "600"}, {"unread", "inf"}},
      {{"heads", "3"}, {"kv_heads", "3"}, {"width", "11"}, {"context", "600"}, {"data", "tiny"}},
      {{"context", "1500"}, {"data", "large_logits"}, {"causal", "yes"}},
  };
  return rows;
}

Workload parity_case(std::int64_t index) {
  Row row = parity_rows()[static_cast<std::size_t>(index)];
  if (std::ranges::find(row, "heads", &Setting::first) == row.end()) {
    row.insert(row.end(), {{"heads", "6"}, {"kv_heads", "1"}});
  }
  return complete_workload(std::move(row), 3'000 + static_cast<std::uint64_t>(index));
}

constexpr std::string_view kValueArms[] = {"fp32", "staged", "warpgroup", "hw_exp"};

constexpr std::string_view kParityArms[] = {
    "model_sm_90:isa=portable",
    "model_sm_90:threads=1,pairs_per_tile=4",
    "model_sm_90:merge_batch=1,pairs_per_tile=64",
    "direct",
    "staged",
    "staged:skip=off",
    "staged:stages=2,tile=16",
    "staged:stages=2,tile=32,skip=off",
    "staged:stages=3,tile=32",
    "staged:stages=4,tile=16,merge_batch=1",
    "staged:spill=run",
    "staged:spill=run,skip=off,merge_batch=16",
    "staged:result=skip",
    "staged:sms=1",
    "staged:sms=7,spill=run",
    "staged:sms=131",
    "warpgroup",
    "warpgroup:pairs=64,stages=2",
    "warpgroup:pairs=128,spill=run",
    "warpgroup:pairs=16,spill=group,sms=7",
    "warpgroup:pairs=64,spill=slice,sms=1",
    "warpgroup:result=skip",
};

// ---- named: those that a cpu finishes at once, causal and not ----

constexpr std::array<std::string_view, 7> kQuick = {"b1", "b2", "b3", "b4", "b6", "b12", "b14"};

Workload named_case(std::int64_t index) {
  std::int64_t rest = index;
  const std::string_view name = pick(kQuick, rest);
  const std::span<const NamedWorkload> all = named_workloads();
  const auto named = std::ranges::find(all, name, &NamedWorkload::name);
  Row row = {{"causal", std::string(pick(kNoYes, rest))}};
  for (const auto& [axis, value] : named->axes) {
    row.emplace_back(axis, value);
  }
  return complete_workload(std::move(row), 0);
}

}  // namespace

Workload complete_workload(std::vector<Setting> given, std::uint64_t seed) {
  return {.axes = *complete_settings(axes(), given), .seed = seed};
}

std::span<const CaseSuite> suites() {
  static const std::array<CaseSuite, 5> all = {{
      {.suite = "values",
       .name = "data",
       .help = "every kind of data over streams of eight lengths, against float64",
       .count_by = "data",
       .num_cases = kDataCases,
       .workload = &data_case,
       .arms = kValueArms,
       .against_reference = true},
      {.suite = "values",
       .name = "windows",
       .help = "windows at every border with planted and one-hot values, against float64",
       .count_by = "data",
       .num_cases = kWindowCases,
       .workload = &window_case,
       .arms = kValueArms,
       .against_reference = true},
      {.suite = "values",
       .name = "lengths",
       .help = "contexts of every length to 257 and at borders to 131,073, against float64",
       .count_by = "dim",
       .num_cases = std::ssize(length_rows()),
       .workload = &length_case,
       .arms = kValueArms,
       .against_reference = true},
      {.suite = "parity",
       .name = "forms",
       .help = "every launch parameter on small calls of every kind",
       .count_by = "dim",
       .num_cases = std::ssize(parity_rows()),
       .workload = &parity_case,
       .arms = kParityArms},
      {.suite = "named",
       .name = "all",
       .help = "workloads with names that a cpu finishes at once, causal and not",
       .count_by = "causal",
       .num_cases = std::ssize(kQuick) * std::ssize(kNoYes),
       .workload = &named_case},
  }};
  return all;
}

}  // namespace assay::kernels::block_attention
