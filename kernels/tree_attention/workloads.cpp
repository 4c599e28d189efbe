#include "kernels/tree_attention/workloads.h"

#include <array>

namespace assay::kernels::tree_attention {
namespace {

using Axis = std::pair<std::string_view, std::string_view>;
using SevenAxes = std::array<Axis, 7>;

// 48 query heads of dim 128 over 4 key heads, and 24 of dim 256.
constexpr SevenAxes narrow(std::string_view streams,
                           std::string_view rows,
                           std::string_view committed,
                           std::string_view tree = "chain") {
  return {{{"heads", "48"},
           {"kv_heads", "4"},
           {"dim", "128"},
           {"streams", streams},
           {"rows", rows},
           {"committed", committed},
           {"tree", tree}}};
}

constexpr SevenAxes wide(std::string_view streams,
                         std::string_view rows,
                         std::string_view committed,
                         std::string_view tree = "chain") {
  SevenAxes axes = narrow(streams, rows, committed, tree);
  axes[0].second = "24";
  axes[2].second = "256";
  return axes;
}

constexpr SevenAxes kT1 = narrow("1", "1", "512");
constexpr SevenAxes kT2 = wide("1", "1", "4722");
constexpr SevenAxes kT3 = narrow("1", "8", "4096");
constexpr SevenAxes kT4 = narrow("1", "1", "32768");
constexpr SevenAxes kT5 = wide("1", "8", "16384");
constexpr SevenAxes kT6 = narrow("1", "8", "131072");
constexpr SevenAxes kT7 = wide("1", "8", "131072");
constexpr SevenAxes kT8 = narrow("1", "16", "131072");
constexpr SevenAxes kT9 = wide("1", "64", "16384", "levels");
constexpr SevenAxes kT10 = narrow("8", "16", "8192");
constexpr SevenAxes kT11 = wide("16", "8", "32768");
constexpr SevenAxes kT12 = narrow("32", "1", "4096");
constexpr SevenAxes kT13 = wide("64", "4", "2048");
constexpr std::array<Axis, 7> kT14 = {{{"heads", "24"},
                                       {"kv_heads", "4"},
                                       {"dim", "256"},
                                       {"streams", "4"},
                                       {"rows", "8"},
                                       {"committed", "131072"},
                                       {"lengths", "ladder"}}};
constexpr SevenAxes kT15 = narrow("1", "1", "262144");
constexpr SevenAxes kT16 = wide("1", "60", "262144", "levels");
constexpr SevenAxes kT17 = narrow("32", "64", "4096", "levels");

constexpr NamedWorkload kWorkloads[] = {
    {"t1", "one row of a short context", kT1},
    {"t2", "serial decode of one stream", kT2},
    {"t3", "a chain of eight", kT3},
    {"t4", "serial decode of a long context", kT4},
    {"t5", "a chain of eight, dim 256", kT5},
    {"t6", "a chain of eight in a long context", kT6},
    {"t7", "a chain of eight in a long context, dim 256", kT7},
    {"t8", "a chain of sixteen in a long context", kT8},
    {"t9", "a tree of 64 rows", kT9},
    {"t10", "eight streams of sixteen rows", kT10},
    {"t11", "sixteen streams of eight rows", kT11},
    {"t12", "serial decode of 32 streams", kT12},
    {"t13", "64 short streams of four rows", kT13},
    {"t14", "four streams, one of which has most of the keys", kT14},
    {"t15", "serial decode of the longest context", kT15},
    {"t16", "a tree of 60 rows in the longest context", kT16},
    {"t17", "32 trees of 64 rows", kT17},
};

}  // namespace

std::span<const NamedWorkload> named_workloads() {
  return kWorkloads;
}

}  // namespace assay::kernels::tree_attention
