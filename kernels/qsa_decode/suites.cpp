#include "kernels/inputs.h"
#include "kernels/qsa_decode/contract.h"
#include "kernels/qsa_decode/workloads.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace assay::kernels::qsa_decode {
namespace {

constexpr std::array<std::string_view, 4> kFormats = {"fp16", "int8", "q4_0", "k8v4"};

// `given` is valid by construction; defaults fill the rest.
Workload workload_of(std::vector<Setting> given, std::uint64_t seed) {
  return {.axes = *complete_settings(axes(), given), .seed = seed};
}

std::string text_of(std::int64_t number) {
  return absl::StrCat(number);
}

// ---- parity: the grid, 2 capacities x 6 batch sizes x 16 widths for each format ----

constexpr std::array<std::int64_t, 2> kCaps = {2'112, 32'768};
constexpr std::int64_t kMostQueries = 6;
constexpr std::array<std::int64_t, 13> kWidths = {
    0, 1, 63, 64, 65, 1'023, 1'024, 1'025, 2'051, 4'096, 16'383, 16'385, 32'768};
constexpr std::array<std::string_view, 3> kSpreads = {"borders", "falling", "random"};
constexpr std::int64_t kBatches = std::ssize(kWidths) + std::ssize(kSpreads);
constexpr std::int64_t kGridCases = std::ssize(kCaps) * kMostQueries * kBatches;

Workload grid_case(std::size_t format, std::int64_t index) {
  const std::int64_t batch = index % kBatches;
  const std::int64_t n_q = index / kBatches % kMostQueries + 1;
  const std::int64_t cap = kCaps[static_cast<std::size_t>(index / kBatches / kMostQueries)];
  const bool is_uniform = batch < std::ssize(kWidths);
  const std::int64_t width = is_uniform ? kWidths[static_cast<std::size_t>(batch)] : kWidths.back();
  const std::string_view spread =
      is_uniform ? "uniform" : kSpreads[static_cast<std::size_t>(batch - std::ssize(kWidths))];
  return workload_of({{"kv", std::string(kFormats[format])},
                      {"n_q", text_of(n_q)},
                      {"cap", text_of(cap)},
                      {"width", text_of(width)},
                      {"spread", std::string(spread)},
                      {"select", "mixed"},
                      {"resident", "holes"}},
                     static_cast<std::uint64_t>(index));
}

// ---- parity: 400 random cases, their formats as they fall ----

constexpr std::int64_t kRandomCases = 400;
constexpr std::uint64_t kRandomSeed = 5862;  // deals the formats 98, 99, 102 and 101 times
constexpr std::array<std::int64_t, 4> kRandomPerFormat = {98, 99, 102, 101};

constexpr std::size_t random_format(std::int64_t number) {
  return random_below(make_key(kRandomSeed, "formats"), static_cast<std::uint64_t>(number), 4);
}

constexpr bool deals_as_stated() {
  std::array<std::int64_t, 4> count = {};
  for (std::int64_t number = 0; number < kRandomCases; ++number) {
    ++count[random_format(number)];
  }
  return count == kRandomPerFormat;
}

static_assert(deals_as_stated(), "num_cases of the parity suites rest on these counts");

// The number of the nth random case of a format.
std::int64_t find_random(std::size_t format, std::int64_t nth) {
  std::int64_t number = 0;
  for (;; ++number) {
    if (random_format(number) == format && nth-- == 0) {
      return number;
    }
  }
}

Workload random_case(std::size_t format, std::int64_t nth) {
  const std::int64_t number = find_random(format, nth);
  constexpr std::array<std::int64_t, 8> kRandomCaps = {
      64, 256, 1'024, 1'472, 2'112, 4'096, 8'192, 32'768};
  const std::uint64_t key =
      random_word(make_key(kRandomSeed, "cases"), static_cast<std::uint64_t>(number));
  const std::int64_t cap = kRandomCaps[random_below(key, 0, kRandomCaps.size())];
  // One in eight is wider than its capacity.
  const std::int64_t widest = random_below(key, 1, 8) == 0 ? 2 * cap : cap;
  const std::int64_t width = random_below(key, 2, static_cast<std::uint64_t>(widest) + 1);
  const bool is_uniform = random_below(key, 3, 2) == 0;
  return workload_of({{"kv", std::string(kFormats[format])},
                      {"n_q", text_of(1 + random_below(key, 4, kMostQueries))},
                      {"cap", text_of(cap)},
                      {"width", text_of(width)},
                      {"spread", is_uniform ? "uniform" : "random"},
                      {"select", "mixed"},
                      {"resident", "holes"}},
                     1'000 + static_cast<std::uint64_t>(number));
}

template <std::size_t kFormat>
Workload parity_case(std::int64_t index) {
  return index < kGridCases ? grid_case(kFormat, index) : random_case(kFormat, index - kGridCases);
}

// ---- additions: what the grid leaves out, for each format ----

using Row = std::vector<Setting>;

const std::vector<Row>& addition_rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> made = {
        // Nothing to attend, by width and by residency; fewer entries than a chunk.
        {{"width", "0"}, {"n_q", "3"}, {"cap", "64"}},
        {{"width", "2051"}, {"n_q", "2"}, {"resident", "none"}},
        {{"width", "1"}, {"cap", "1"}},
        {{"width", "37"}, {"cap", "50"}, {"n_q", "2"}},
        // Wider than the capacity.
        {{"width", "4096"}, {"cap", "2112"}, {"n_q", "2"}},
        {{"width", "131072"}, {"cap", "64"}},
        // A masked cell at each of the 64 places of a chunk, so of each pair and group of four.
        {{"width", "4096"}, {"cap", "4096"}, {"page_size", "1"}, {"resident", "cells"}},
        {{"width", "4096"},
         {"cap", "4096"},
         {"page_size", "1"},
         {"resident", "cells"},
         {"select", "repeats"}},
        {{"width", "2051"},
         {"n_q", "4"},
         {"page_size", "1"},
         {"resident", "cells"},
         {"sharing", "shared"}},
        {{"width", "4096"}, {"page_size", "2"}, {"resident", "cells"}},
        // A chunk without a live cell between live ones.
        {{"width", "2051"}, {"page_size", "1"}, {"resident", "chunk"}},
        {{"width", "192"}, {"cap", "192"}, {"page_size", "1"}, {"resident", "chunk"}},
        {{"width", "2051"}, {"page_size", "64"}, {"resident", "chunk"}, {"select", "blocks"}},
        // Large and odd pages.
        {{"width", "2051"}, {"n_q", "3"}, {"page_size", "64"}, {"resident", "holes"}},
        {{"width", "16385"}, {"page_size", "64"}, {"select", "gaps"}},
        {{"width", "1025"}, {"page_size", "7"}, {"select", "mixed"}, {"n_q", "4"}},
        // Many repeats of few cells, both entries, and selections without a common cell.
        {{"width", "8192"}, {"n_q", "2"}, {"select", "repeats"}, {"resident", "holes"}},
        {{"width", "2051"}, {"entry", "step"}},
        {{"width", "65"}, {"entry", "step"}, {"cap", "2112"}, {"resident", "holes"}},
        {{"width", "2051"}, {"streams", "3"}, {"n_q", "2"}, {"sharing", "disjoint"}},
        {{"width", "2051"}, {"streams", "2"}, {"n_q", "4"}, {"sharing", "shared"}},
    };
    // Fewer chunks than heads, and up to eight queries.
    for (const std::string_view cap : {"64", "128", "448", "1024", "1472", "1535"}) {
      made.push_back({{"cap", std::string(cap)},
                      {"width", std::string(cap)},
                      {"n_q", "7"},
                      {"spread", "random"},
                      {"select", "mixed"},
                      {"resident", "holes"}});
    }
    for (const std::string_view n_q : {"7", "8"}) {
      made.push_back({{"n_q", std::string(n_q)},
                      {"width", "2051"},
                      {"cap", "2112"},
                      {"select", "mixed"},
                      {"resident", "holes"}});
    }
    return made;
  }();
  return rows;
}

constexpr std::int64_t kAdditionsPerFormat = 29;

Workload addition_case(std::int64_t index) {
  Row row = addition_rows()[static_cast<std::size_t>(index % kAdditionsPerFormat)];
  row.emplace_back("kv", kFormats[static_cast<std::size_t>(index / kAdditionsPerFormat)]);
  return workload_of(std::move(row), 2'000 + static_cast<std::uint64_t>(index));
}

// ---- subset: 64 small cases, 16 for each format ----

constexpr std::int64_t kSubsetPerFormat = 16;

Workload subset_case(std::int64_t index) {
  static const std::array<Row, kSubsetPerFormat> rows = {{
      {{"width", "0"}, {"cap", "64"}, {"n_q", "2"}},
      {{"width", "1"}, {"cap", "64"}},
      {{"width", "63"}, {"cap", "64"}, {"n_q", "2"}},
      {{"width", "64"}, {"cap", "128"}},
      {{"width", "65"}, {"cap", "128"}, {"n_q", "3"}, {"select", "repeats"}},
      {{"width", "300"}, {"cap", "128"}, {"select", "gaps"}},
      {{"width", "511"}, {"cap", "2112"}, {"n_q", "2"}, {"resident", "holes"}},
      {{"width", "512"}, {"cap", "512"}, {"page_size", "1"}, {"resident", "cells"}},
      {{"width", "256"}, {"cap", "256"}, {"page_size", "1"}, {"resident", "chunk"}},
      {{"width", "200"}, {"cap", "256"}, {"resident", "none"}},
      {{"width", "200"}, {"cap", "256"}, {"n_q", "6"}, {"spread", "borders"}},
      {{"width", "400"}, {"cap", "448"}, {"n_q", "8"}, {"spread", "random"}, {"select", "mixed"}},
      {{"width", "1025"}, {"cap", "2112"}, {"select", "blocks"}},
      {{"width", "130"}, {"cap", "192"}, {"page_size", "64"}, {"n_q", "2"}, {"resident", "holes"}},
      {{"width", "150"}, {"cap", "192"}, {"entry", "step"}},
      {{"width", "100"}, {"cap", "128"}, {"streams", "2"}, {"n_q", "2"}, {"sharing", "shared"}},
  }};
  Row row = rows[static_cast<std::size_t>(index % kSubsetPerFormat)];
  row.emplace_back("kv", kFormats[static_cast<std::size_t>(index / kSubsetPerFormat)]);
  return workload_of(std::move(row), 3'000 + static_cast<std::uint64_t>(index));
}

// ---- named: every workload that has a name, once where two names mean one ----

const std::vector<Workload>& named_cases() {
  static const std::vector<Workload> cases = [] {
    std::vector<Workload> made;
    for (const NamedWorkload& named : named_workloads()) {
      Row row;
      for (const auto& [name, value] : named.axes) {
        row.emplace_back(name, value);
      }
      Workload workload = workload_of(std::move(row), 0);
      if (std::ranges::find(made, workload.axes, &Workload::axes) == made.end()) {
        made.push_back(std::move(workload));
      }
    }
    return made;
  }();
  return cases;
}

Workload named_case(std::int64_t index) {
  return named_cases()[static_cast<std::size_t>(index)];
}

constexpr std::string_view kSubsetArms[] = {"one_cell:isa=portable",
                                            "two_cell",
                                            "two_cell:isa=portable",
                                            "lane_cell",
                                            "lane_cell:isa=portable",
                                            "two_cell:cells_per_step=1",
                                            "two_cell:cells_per_step=4,merge=all_chunks",
                                            "two_cell:cells_per_step=8,merge_batch=4"};

template <std::size_t kFormat>
CaseSuite parity_suite(std::string_view help) {
  return {.suite = "parity",
          .name = kFormats[kFormat],
          .help = help,
          .count_by = "kv",
          .num_cases = kGridCases + kRandomPerFormat[kFormat],
          .workload = &parity_case<kFormat>};
}

}  // namespace

std::span<const CaseSuite> suites() {
  static constexpr std::string_view kParity =
      "capacities, batch sizes and widths at every border with holes, and random cases";
  static const std::array<CaseSuite, 7> all = {{
      parity_suite<0>(kParity),
      parity_suite<1>(kParity),
      parity_suite<2>(kParity),
      parity_suite<3>(kParity),
      {.suite = "additions",
       .name = "all",
       .help = "masked places, empty chunks, small capacities, page sizes and entries",
       .count_by = "kv",
       .num_cases = kAdditionsPerFormat * std::ssize(kFormats),
       .workload = &addition_case},
      {.suite = "subset",
       .name = "all",
       .help = "64 small cases, also against float64 and in portable form",
       .count_by = "kv",
       .num_cases = kSubsetPerFormat * std::ssize(kFormats),
       .workload = &subset_case,
       .arms = kSubsetArms,
       .against_reference = true},
      {.suite = "named",
       .name = "all",
       .help = "every workload that has a name, once",
       .count_by = "kv",
       .num_cases = std::ssize(named_cases()),
       .workload = &named_case},
  }};
  return all;
}

}  // namespace assay::kernels::qsa_decode
