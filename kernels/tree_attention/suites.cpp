#include "kernels/inputs.h"
#include "kernels/tree_attention/case_text.h"
#include "kernels/tree_attention/workloads.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace assay::kernels::tree_attention {
namespace {

constexpr std::array<std::string_view, 7> kTrees = {
    "chain", "star", "binary", "random", "forest", "levels", "roots"};

// Seeds are the case's number, and far apart from suite to suite.
using Table = std::vector<Row>;

Row row_of(const Row& geometry, std::int64_t rows, std::int64_t committed, std::string_view tree) {
  return with(
      geometry,
      {{"rows", text_of(rows)}, {"committed", text_of(committed)}, {"tree", std::string(tree)}});
}

// ---- values/trees: every tree over streams of every length ----

Table tree_rows() {
  Table made;
  for (const Row& geometry : geometries()) {
    for (const std::string_view tree : kTrees) {
      made.push_back(
          with(row_of(geometry, 16, 2'600, tree), {{"streams", "9"}, {"lengths", "mixed"}}));
      made.push_back(
          with(row_of(geometry, 8, 512, tree), {{"streams", "5"}, {"lengths", "edges"}}));
    }
    made.push_back(row_of(geometry, 60, 300, "levels"));
    made.push_back(row_of(geometry, 128, 450, "chain"));
    made.push_back(row_of(geometry, 128, 513, "random"));
    made.push_back(row_of(geometry, 300, 5, "forest"));
    // Windows of 1 to 128 rows beside each other, at each border of a 32-bit mask.
    made.push_back(
        with(row_of(geometry, 4, 130, "random"), {{"streams", "11"}, {"lengths", "neighbours"}}));
  }
  return made;
}

// ---- values/data: every kind of data over few, some and many keys ----

Table data_rows() {
  Table made;
  for (const Row& geometry : geometries()) {
    for (const std::string_view data : {"normal",
                                        "zero_qk",
                                        "one_hot_v",
                                        "planted",
                                        "large_logits",
                                        "constant_logits",
                                        "cancelling",
                                        "tiny"}) {
      const Row kind = with(geometry, {{"data", std::string(data)}});
      made.push_back(row_of(kind, 9, 0, "star"));
      made.push_back(row_of(kind, 7, 2, "binary"));
      made.push_back(with(row_of(kind, 12, 700, "random"), {{"streams", "2"}}));
      made.push_back(row_of(kind, 4, 2'600, "chain"));
    }
    // A row at each number of visible keys from 1 to 257, where a weight is one place of the value.
    for (const std::string_view data : {"zero_qk", "one_hot_v"}) {
      const Row kind = with(geometry, {{"data", std::string(data)}});
      made.push_back(row_of(kind, 128, 0, "chain"));
      made.push_back(row_of(kind, 128, 128, "chain"));
      made.push_back(row_of(kind, 2, 255, "chain"));
    }
    // Planted keys at the borders of groups further on.
    for (const std::int64_t committed : {511, 512, 513, 1'024, 4'096}) {
      made.push_back(row_of(with(geometry, {{"data", "planted"}}), 10, committed, "binary"));
    }
  }
  return made;
}

// ---- values/lengths: one row at every length class ----

Table length_rows() {
  Table made;
  for (const std::int64_t keys :
       {1, 63, 64, 65, 127, 128, 129, 511, 512, 513, 4'096, 4'097, 16'385, 131'073}) {
    for (const Row& geometry : geometries()) {
      made.push_back(row_of(geometry, 1, keys - 1, "chain"));
    }
  }
  return made;
}

// ---- values/shapes: heads, empty parts, memory ----

Table shape_rows() {
  Table made;
  for (const std::string dim : {"128", "256"}) {
    for (const auto& [heads, kv_heads] :
         std::vector<std::pair<std::string, std::string>>{{"1", "1"},
                                                          {"8", "8"},
                                                          {"6", "3"},
                                                          {"6", "2"},
                                                          {"5", "1"},
                                                          {"14", "2"},
                                                          {"32", "4"},
                                                          {"32", "2"}}) {
      made.push_back(
          row_of({{"heads", heads}, {"kv_heads", kv_heads}, {"dim", dim}}, 5, 600, "binary"));
    }
  }
  for (const Row& geometry : geometries()) {
    // Nothing at all, no rows, rows without committed keys, a stream without rows between others.
    made.push_back(with(geometry, {{"streams", "0"}}));
    made.push_back(row_of(geometry, 0, 100, "chain"));
    made.push_back(with(row_of(geometry, 3, 0, "random"), {{"streams", "4"}}));
    made.push_back(with(row_of(geometry, 3, 20, "chain"),
                        {{"streams", "4"}, {"lengths", "neighbours"}, {"pick", "4"}}));
    // More pairs than a kernel has threads.
    made.push_back(row_of(geometry, 128, 600, "binary"));
    for (const std::string unread : {"nan", "inf", "random"}) {
      made.push_back(with(row_of(geometry, 6, 250, "star"),
                          {{"streams", "3"}, {"slack", "300"}, {"unread", unread}}));
    }
    for (const std::string offset : {"8", "16", "24"}) {
      made.push_back(with(row_of(geometry, 6, 650, "forest"), {{"base_offset", offset}}));
    }
    made.push_back(with(row_of(geometry, 2, 40, "chain"), {{"slack", "0"}, {"plan", "4000"}}));
    made.push_back(
        with(row_of(geometry, 4, 2'048, "chain"), {{"streams", "4"}, {"lengths", "ladder"}}));
  }
  return made;
}

// ---- parity: launch shapes against the baseline's bytes ----

constexpr std::int64_t kRandomCases = 32;

Row random_row(std::int64_t number) {
  const std::uint64_t key = make_key(static_cast<std::uint64_t>(number), "parity");
  const Row& geometry = geometries()[random_below(key, 0, 2)];
  constexpr std::array<std::string_view, 4> kLengths = {"equal", "mixed", "alternating", "edges"};
  const std::int64_t most_rows = random_below(key, 1, 4) == 0 ? 70 : 16;
  return with(row_of(geometry,
                     random_below(key, 2, static_cast<std::uint64_t>(most_rows) + 1),
                     random_below(key, 3, 5'200),
                     kTrees[random_below(key, 4, kTrees.size())]),
              {{"streams", text_of(1 + random_below(key, 5, 4))},
               {"lengths", std::string(kLengths[random_below(key, 6, kLengths.size())])},
               {"base_offset", text_of(8 * random_below(key, 7, 4))}});
}

Table parity_rows() {
  Table made;
  for (const Row& geometry : geometries()) {
    made.push_back(row_of(geometry, 1, 0, "chain"));
    made.push_back(row_of(geometry, 1, 511, "chain"));
    made.push_back(row_of(geometry, 3, 512, "roots"));
    made.push_back(row_of(geometry, 8, 4'090, "chain"));
    made.push_back(row_of(geometry, 16, 9'000, "binary"));
    made.push_back(row_of(geometry, 65, 1'000, "levels"));
    made.push_back(
        with(row_of(geometry, 8, 4'096, "random"), {{"streams", "4"}, {"lengths", "ladder"}}));
    made.push_back(with(geometry, {{"streams", "0"}}));
  }
  for (std::int64_t number = 0; number < kRandomCases; ++number) {
    made.push_back(random_row(number));
  }
  return made;
}

// ---- portable: the cpu's other instruction set, few keys ----

Table portable_rows() {
  Table made;
  for (const Row& geometry : geometries()) {
    made.push_back(row_of(geometry, 1, 600, "chain"));
    made.push_back(row_of(geometry, 7, 130, "binary"));
    for (const std::string data : {"large_logits", "cancelling", "tiny"}) {
      made.push_back(with(row_of(geometry, 3, 140, "star"), {{"data", data}}));
    }
  }
  return made;
}

// ---- named: those that a cpu can bear ----

Table named_rows() {
  constexpr std::array<std::string_view, 7> kSmall = {"t1", "t2", "t3", "t4", "t5", "t9", "t12"};
  Table made;
  for (const NamedWorkload& named : named_workloads()) {
    if (std::ranges::find(kSmall, named.name) != kSmall.end()) {
      Row& row = made.emplace_back();
      for (const auto& [name, value] : named.axes) {
        row.emplace_back(name, value);
      }
    }
  }
  return made;
}

template <Table (*kMake)()>
const Table& made() {
  static const Table table = kMake();
  return table;
}

template <Table (*kMake)(), std::uint64_t kFirstSeed>
Workload case_of(std::int64_t index) {
  return workload_of(made<kMake>()[static_cast<std::size_t>(index)],
                     kFirstSeed + static_cast<std::uint64_t>(index));
}

template <Table (*kMake)()>
Workload named_case(std::int64_t index) {
  return workload_of(made<kMake>()[static_cast<std::size_t>(index)], 0);
}

constexpr std::string_view kValueArms[] = {"fp32", "staged", "wide", "warpgroup", "hw_exp"};

constexpr std::string_view kParityArms[] = {"model_sm_90:threads=1,pairs_per_tile=4",
                                            "model_sm_90:pairs_per_tile=64,merge_batch=1",
                                            "staged",
                                            "staged:form=four_warp",
                                            "staged:form=one_warp",
                                            "staged:slots=1",
                                            "staged:slots=3,form=one_warp",
                                            "staged:slots=16,form=four_warp,stages=3",
                                            "staged:stages=4,tile=16",
                                            "staged:stages=2,tile=64,form=one_warp",
                                            "staged:shared=off",
                                            "staged:shared=off,form=one_warp,stages=3",
                                            "staged:spill=run",
                                            "staged:spill=run,slots=2,form=four_warp",
                                            "staged:capacity=16384",
                                            "staged:sms=7",
                                            "staged:merge_batch=1",
                                            "staged:merge_batch=16,blocks_per_sm=1",
                                            "staged:result=skip",
                                            "wide",
                                            "wide:tiles=1,spill=run",
                                            "warpgroup",
                                            "warpgroup:pairs=64,stages=2",
                                            "warpgroup:pairs=128,spill=run",
                                            "warpgroup:pairs=16,spill=group,sms=7",
                                            "warpgroup:pairs=64,spill=slice,sms=1",
                                            "warpgroup:capacity=16384,result=skip"};

constexpr std::string_view kPortableArms[] = {"model_sm_90:isa=portable",
                                              "model_sm_90:isa=portable,threads=1"};

template <Table (*kMake)(), std::uint64_t kFirstSeed>
CaseSuite values_suite(std::string_view name, std::string_view help) {
  return {.suite = "values",
          .name = name,
          .help = help,
          .count_by = "dim",
          .num_cases = std::ssize(made<kMake>()),
          .workload = &case_of<kMake, kFirstSeed>,
          .arms = kValueArms,
          .against_reference = true};
}

}  // namespace

std::span<const CaseSuite> suites() {
  static const std::array<CaseSuite, 7> all = {{
      values_suite<&tree_rows, 1'000>("trees", "every tree over streams of every length"),
      values_suite<&data_rows, 2'000>("data", "every kind of data, planted keys, 1 to 257 keys"),
      values_suite<&length_rows, 3'000>("lengths", "one row with 1 to 131,073 keys"),
      values_suite<&shape_rows, 4'000>("shapes", "heads, empty parts, slack and offsets"),
      {.suite = "parity",
       .name = "forms",
       .help = "launch shapes against the baseline",
       .count_by = "dim",
       .num_cases = std::ssize(made<&parity_rows>()),
       .workload = &case_of<&parity_rows, 5'000>,
       .arms = kParityArms},
      {.suite = "parity",
       .name = "portable",
       .help = "the cpu model without wide registers",
       .count_by = "dim",
       .num_cases = std::ssize(made<&portable_rows>()),
       .workload = &case_of<&portable_rows, 6'000>,
       .arms = kPortableArms},
      {.suite = "named",
       .name = "small",
       .help = "the named workloads that a cpu can bear",
       .count_by = "dim",
       .num_cases = std::ssize(made<&named_rows>()),
       .workload = &named_case<&named_rows>},
  }};
  return all;
}

}  // namespace assay::kernels::tree_attention
