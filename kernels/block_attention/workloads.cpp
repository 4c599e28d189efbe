#include "kernels/block_attention/workloads.h"

#include "kernels/block_attention/contract.h"

#include <array>
#include <utility>

namespace assay::kernels::block_attention {
namespace {

using Axis = std::pair<std::string_view, std::string_view>;

// A drafter of 32 query and 8 key heads. A window of 2,048 or 4,096 rows reaches back 2,047 or
// 4,095.
constexpr std::array<Axis, 4> drafter(std::string_view streams,
                                      std::string_view width,
                                      std::string_view context,
                                      std::string_view window) {
  return {{{"streams", streams}, {"width", width}, {"context", context}, {"window", window}}};
}

constexpr auto kB1 = drafter("1", "8", "512", "2047");
constexpr auto kB2 = drafter("1", "7", "4096", "2047");
constexpr auto kB3 = drafter("1", "16", "32768", "2047");
constexpr auto kB4 = drafter("1", "16", "32768", "4095");
constexpr auto kB5 = drafter("1", "16", "131072", "-1");
constexpr auto kB6 = drafter("4", "8", "8192", "2047");
constexpr auto kB7 = drafter("16", "8", "32768", "2047");
constexpr auto kB8 = drafter("8", "16", "32768", "4095");
constexpr auto kB9 = drafter("32", "16", "4096", "2047");
constexpr auto kB10 = drafter("64", "8", "2048", "2047");
constexpr auto kB11 = drafter("8", "16", "131072", "-1");
constexpr Axis kB12[] = {{"streams", "4"},
                         {"width", "16"},
                         {"context", "2048"},
                         {"lengths", "edges"},
                         {"window", "2047"}};
constexpr Axis kB13[] = {{"heads", "48"},
                         {"kv_heads", "4"},
                         {"streams", "16"},
                         {"width", "16"},
                         {"context", "8192"},
                         {"window", "2047"}};
constexpr Axis kB14[] = {{"heads", "24"},
                         {"kv_heads", "4"},
                         {"dim", "256"},
                         {"streams", "8"},
                         {"width", "8"},
                         {"context", "32768"},
                         {"window", "4095"}};
constexpr Axis kFar[] = {{"context", "512"}, {"base_offset", "2147483656"}};

constexpr NamedWorkload kWorkloads[] = {
    {"b1", "a block over a short context", kB1},
    {"b2", "seven rows, a window of 2,048", kB2},
    {"b3", "sixteen rows, a window of 2,048 in a long context", kB3},
    {"b4", "sixteen rows, a window of 4,096 in a long context", kB4},
    {"b5", "sixteen rows over 131,072 keys", kB5},
    {"b6", "four streams", kB6},
    {"b7", "sixteen streams", kB7},
    {"b8", "eight streams, a window of 4,096", kB8},
    {"b9", "thirty-two streams of sixteen rows", kB9},
    {"b10", "sixty-four streams", kB10},
    {"b11", "eight streams over 131,072 keys each", kB11},
    {"b12", "streams of 0, 7, 2,047 and 2,048 keys", kB12},
    {"b13", "twelve query heads of a key head", kB13},
    {"b14", "head dim 256, six query heads of a key head", kB14},
    {"far", "element offsets past 2^31; its buffers take 8.6 GB", kFar},
};

}  // namespace

std::span<const NamedWorkload> named_workloads() {
  return kWorkloads;
}

}  // namespace assay::kernels::block_attention
