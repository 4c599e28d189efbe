// Launch parameters that sweeps found best, as `assay tuning export --format header` wrote them.
// find() gives the entry of a workload or null, parameter() takes your own default for null.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay_tuned {

struct Setting {
  std::string_view name;
  std::string_view value;
};

struct Axis {
  std::string_view name;
  std::string_view value;
  bool is_number;  // one up to a factor of two away is near
};

struct Entry {
  std::string_view operator_name;
  std::string_view variant;
  std::string_view device_model;
  std::string_view compute_capability;  // "9.0"; empty: a cpu
  std::int64_t median_ns;
  std::span<const Axis> workload;
  std::span<const Setting> parameters;
  std::string_view provenance;
};

// clang-format off
inline constexpr Axis kWorkload0[] = {{"heads", "32", true}, {"kv_heads", "8", true}, {"dim", "128", false}, {"streams", "1", true}, {"width", "7", true}, {"context", "4096", true}, {"lengths", "equal", false}, {"window", "2047", true}, {"causal", "no", false}, {"slack", "0", true}, {"unread", "nan", false}, {"data", "normal", false}, {"base_offset", "0", true}, {"first_stream", "0", true}, {"order", "ascending", false}, };
inline constexpr Setting kParameters0[] = {{"pairs", "16"}, {"stages", "2"}, {"spill", "auto"}, {"sms", "0"}, {"result", "store"}, {"pdl", "on"}, };
inline constexpr Axis kWorkload1[] = {{"kv", "int8", false}, {"n_q", "1", true}, {"streams", "1", true}, {"width", "32768", true}, {"cap", "32768", true}, {"page_size", "4", true}, {"select", "window", false}, {"sharing", "independent", false}, {"resident", "all", false}, {"spread", "uniform", false}, {"entry", "batch", false}, };
inline constexpr Setting kParameters1[] = {{"merge", "bounded"}, {"merge_batch", "32"}, {"merge_blocks", "2"}, {"prefetch", "off"}, {"cells_per_step", "2"}, };
inline constexpr Axis kWorkload2[] = {{"kv", "fp16", false}, {"n_q", "1", true}, {"streams", "1", true}, {"width", "512", true}, {"cap", "2112", true}, {"page_size", "4", true}, {"select", "blocks", false}, {"sharing", "independent", false}, {"resident", "all", false}, {"spread", "uniform", false}, {"entry", "batch", false}, };
inline constexpr Setting kParameters2[] = {{"merge", "bounded"}, {"merge_batch", "8"}, {"merge_blocks", "1"}, {"prefetch", "l2"}, {"cells_per_step", "4"}, };
inline constexpr Axis kWorkload3[] = {{"heads", "24", true}, {"kv_heads", "4", true}, {"dim", "256", false}, {"streams", "1", true}, {"rows", "64", true}, {"committed", "16384", true}, {"lengths", "equal", false}, {"tree", "levels", false}, {"data", "normal", false}, {"slack", "16", true}, {"unread", "nan", false}, {"base_offset", "0", true}, {"plan", "0", true}, {"view", "whole", false}, {"pick", "0", true}, };
inline constexpr Setting kParameters3[] = {{"pairs", "auto"}, {"stages", "0"}, {"spill", "auto"}, {"capacity", "0"}, {"sms", "0"}, {"result", "store"}, {"pdl", "on"}, };
inline constexpr Axis kWorkload4[] = {{"heads", "48", true}, {"kv_heads", "4", true}, {"dim", "128", false}, {"streams", "1", true}, {"rows", "1", true}, {"committed", "32768", true}, {"lengths", "equal", false}, {"tree", "chain", false}, {"data", "normal", false}, {"slack", "16", true}, {"unread", "nan", false}, {"base_offset", "0", true}, {"plan", "0", true}, {"view", "whole", false}, {"pick", "0", true}, };
inline constexpr Setting kParameters4[] = {{"pairs", "auto"}, {"stages", "2"}, {"spill", "auto"}, {"capacity", "0"}, {"sms", "0"}, {"result", "store"}, {"pdl", "on"}, };
inline constexpr Axis kWorkload5[] = {{"heads", "48", true}, {"kv_heads", "4", true}, {"dim", "128", false}, {"streams", "1", true}, {"rows", "1", true}, {"committed", "512", true}, {"lengths", "equal", false}, {"tree", "chain", false}, {"data", "normal", false}, {"slack", "16", true}, {"unread", "nan", false}, {"base_offset", "0", true}, {"plan", "0", true}, {"view", "whole", false}, {"pick", "0", true}, };
inline constexpr Setting kParameters5[] = {{"pairs", "auto"}, {"stages", "0"}, {"spill", "auto"}, {"capacity", "0"}, {"sms", "0"}, {"result", "store"}, {"pdl", "on"}, };
inline constexpr Entry kEntries[] = {
    {"block_attention", "warpgroup", "NVIDIA H200", "9.0", 15744, std::span(kWorkload0).first(15), std::span(kParameters0).first(6),
     "experiment 1, 2026-11-30 21:13:28 UTC, code 0.1.0+4c580dd1504b, toolkit CUDA 13.0, driver 580.159.04, machine code 47123f8d1c426e080598bde9f190db99, 0.127 of direct, noise 1.0 %"},
    {"qsa_decode", "two_cell", "NVIDIA H200", "9.0", 73376, std::span(kWorkload1).first(11), std::span(kParameters1).first(5),
     "experiment 2, 2026-11-30 21:10:53 UTC, code 0.1.0+4c580dd1504b, toolkit CUDA 13.0, driver 580.159.04, machine code 6b6e8f19e83ca11fc7b04811c3298cb7, 0.311 of one_cell:merge=all_chunks,merge_batch=16, noise 1.0 %"},
    {"qsa_decode", "two_cell", "NVIDIA H200", "9.0", 14463, std::span(kWorkload2).first(11), std::span(kParameters2).first(5),
     "experiment 1, 2026-11-30 21:09:52 UTC, code 0.1.0+4c580dd1504b, toolkit CUDA 13.0, driver 580.159.04, machine code 4d72904eba2632ea6a01424125a801a0, 0.249 of one_cell:merge=all_chunks,merge_batch=16, noise 1.0 %"},
    {"tree_attention", "warpgroup", "NVIDIA H200", "9.0", 110304, std::span(kWorkload3).first(15), std::span(kParameters3).first(7),
     "experiment 3, 2026-11-30 19:51:31 UTC, code 0.1.0+d0a45e8abfe8-dirty, toolkit CUDA 13.0, driver 580.159.04, machine code 254c8f0914f22263cf28ed0b3002b83e, 0.026 of direct, noise 1.0 %"},
    {"tree_attention", "warpgroup", "NVIDIA H200", "9.0", 23840, std::span(kWorkload4).first(15), std::span(kParameters4).first(7),
     "experiment 2, 2026-11-30 19:47:58 UTC, code 0.1.0+d0a45e8abfe8-dirty, toolkit CUDA 13.0, driver 580.159.04, machine code b92d0104830ad95420d894cc15511430, 0.058 of direct, noise 4.6 %"},
    {"tree_attention", "warpgroup", "NVIDIA H200", "9.0", 9024, std::span(kWorkload5).first(15), std::span(kParameters5).first(7),
     "experiment 1, 2026-11-30 19:46:47 UTC, code 0.1.0+d0a45e8abfe8-dirty, toolkit CUDA 13.0, driver 580.159.04, machine code b92d0104830ad95420d894cc15511430, 0.024 of direct, noise 1.0 %"},
};

// clang-format on

// Whether `text` is an integer of at most 18 digits, and which.
constexpr bool to_integer(std::string_view text, std::int64_t& value) {
  value = 0;
  if (text.empty() || text.size() > 18) {
    return false;
  }
  for (const char c : text) {
    if (c < '0' || c > '9') {
      return false;
    }
    value = value * 10 + (c - '0');
  }
  return true;
}

// How many times apart two values are, from 1 to 2; 0: they are another case.
constexpr double times_apart(const Axis& known, std::string_view wanted) {
  if (known.value == wanted) {
    return 1;
  }
  std::int64_t a = 0;
  std::int64_t b = 0;
  if (!known.is_number || !to_integer(known.value, a) || !to_integer(wanted, b)) {
    return 0;
  }
  const std::int64_t smaller = a < b ? a : b;
  const std::int64_t larger = a < b ? b : a;
  const bool is_near = smaller > 0 && larger <= 2 * smaller;
  return is_near ? static_cast<double>(larger) / static_cast<double>(smaller) : 0;
}

// The product over the axes: 1 for the same workload, 0 for another case.
constexpr double times_apart(const Entry& entry, std::span<const Setting> workload) {
  if (entry.workload.size() != workload.size()) {
    return 0;
  }
  double product = 1;
  for (std::size_t i = 0; i < workload.size(); ++i) {
    const bool is_same_axis = entry.workload[i].name == workload[i].name;
    product *= is_same_axis ? times_apart(entry.workload[i], workload[i].value) : 0;
  }
  return product;
}

// The entry of this operator, variant (empty: any) and compute capability whose workload is the
// same, else the nearest, of equally near ones the fastest; null: there is none. `workload` has
// every axis in the operator's order.
constexpr const Entry* find(std::string_view operator_name,
                            std::string_view variant,
                            std::string_view compute_capability,
                            std::span<const Setting> workload) {
  const Entry* best = nullptr;
  double best_times = 0;
  for (const Entry& entry : kEntries) {
    if (entry.operator_name != operator_name || entry.compute_capability != compute_capability ||
        (!variant.empty() && entry.variant != variant)) {
      continue;
    }
    const double times = times_apart(entry, workload);
    const bool is_first = best == nullptr || times < best_times;
    if (times > 0 && (is_first || (times == best_times && entry.median_ns < best->median_ns))) {
      best = &entry;
      best_times = times;
    }
  }
  return best;
}

// The text of a launch parameter, or `fallback` without an entry that has it.
constexpr std::string_view parameter(const Entry* entry,
                                     std::string_view name,
                                     std::string_view fallback) {
  if (entry != nullptr) {
    for (const Setting& setting : entry->parameters) {
      if (setting.name == name) {
        return setting.value;
      }
    }
  }
  return fallback;
}

// The same of an integer.
constexpr std::int64_t parameter(const Entry* entry, std::string_view name, std::int64_t fallback) {
  std::int64_t value = 0;
  return to_integer(parameter(entry, name, std::string_view()), value) ? value : fallback;
}

}  // namespace assay_tuned
