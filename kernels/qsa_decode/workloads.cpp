#include "kernels/qsa_decode/workloads.h"

#include <array>

namespace assay::kernels::qsa_decode {
namespace {

using Axis = std::pair<std::string_view, std::string_view>;
using ThreeAxes = std::array<Axis, 3>;

// ---- One stream, windows of the cache, capacity 32,768 ----

constexpr ThreeAxes decode(std::string_view kv, std::string_view n_q, std::string_view width) {
  return {{{"kv", kv}, {"n_q", n_q}, {"width", width}}};
}

constexpr std::array<ThreeAxes, 5> rows_of(std::string_view kv) {
  return {decode(kv, "1", "32768"),
          decode(kv, "2", "32768"),
          decode(kv, "3", "32768"),
          decode(kv, "4", "32768"),
          decode(kv, "4", "2051")};
}

constexpr auto kFp16Rows = rows_of("fp16");
constexpr auto kInt8Rows = rows_of("int8");
constexpr auto kQ4Rows = rows_of("q4_0");
constexpr auto kK8V4Rows = rows_of("k8v4");

// ---- Serving shapes: main layers select blocks of four cells, capacity 2,112 ----

constexpr Axis kQ1[] = {{"kv", "fp16"}, {"width", "512"}, {"cap", "2112"}, {"select", "blocks"}};
constexpr Axis kQ2[] = {{"kv", "fp16"}, {"width", "2051"}, {"cap", "2112"}, {"select", "blocks"}};
constexpr Axis kQ3[] = {{"kv", "int8"}, {"width", "2051"}, {"cap", "2112"}, {"select", "blocks"}};
constexpr Axis kQ4[] = {{"kv", "q4_0"}, {"width", "2051"}, {"cap", "2112"}, {"select", "blocks"}};
constexpr Axis kQ5[] = {{"kv", "k8v4"}, {"width", "2051"}, {"cap", "2112"}, {"select", "blocks"}};
constexpr Axis kQ6[] = {{"kv", "int8"},
                        {"n_q", "4"},
                        {"width", "2051"},
                        {"cap", "2112"},
                        {"select", "blocks"},
                        {"sharing", "disjoint"}};
constexpr Axis kQ7[] = {{"kv", "int8"}, {"width", "32768"}};
constexpr Axis kQ8[] = {{"kv", "fp16"}, {"width", "32768"}};
constexpr Axis kQ9[] = {{"kv", "q4_0"}, {"width", "32768"}};
constexpr Axis kQ10[] = {{"kv", "k8v4"}, {"n_q", "4"}, {"width", "32768"}, {"sharing", "disjoint"}};
constexpr Axis kQ11[] = {{"kv", "int8"},
                         {"streams", "16"},
                         {"n_q", "4"},
                         {"width", "2051"},
                         {"cap", "2112"},
                         {"select", "blocks"},
                         {"sharing", "disjoint"}};
constexpr Axis kQ12[] = {
    {"kv", "fp16"}, {"streams", "64"}, {"width", "2051"}, {"cap", "2112"}, {"select", "blocks"}};

constexpr std::string_view kDrafter = "windows of one stream, capacity 32,768";
constexpr std::string_view kMainLayer = "one stream of a main layer";

constexpr NamedWorkload kWorkloads[] = {
    {"fp16_n1_w32768", kDrafter, kFp16Rows[0]},
    {"fp16_n2_w32768", kDrafter, kFp16Rows[1]},
    {"fp16_n3_w32768", kDrafter, kFp16Rows[2]},
    {"fp16_n4_w32768", kDrafter, kFp16Rows[3]},
    {"fp16_n4_w2051", kDrafter, kFp16Rows[4]},
    {"int8_n1_w32768", kDrafter, kInt8Rows[0]},
    {"int8_n2_w32768", kDrafter, kInt8Rows[1]},
    {"int8_n3_w32768", kDrafter, kInt8Rows[2]},
    {"int8_n4_w32768", kDrafter, kInt8Rows[3]},
    {"int8_n4_w2051", kDrafter, kInt8Rows[4]},
    {"q4_0_n1_w32768", kDrafter, kQ4Rows[0]},
    {"q4_0_n2_w32768", kDrafter, kQ4Rows[1]},
    {"q4_0_n3_w32768", kDrafter, kQ4Rows[2]},
    {"q4_0_n4_w32768", kDrafter, kQ4Rows[3]},
    {"q4_0_n4_w2051", kDrafter, kQ4Rows[4]},
    {"k8v4_n1_w32768", kDrafter, kK8V4Rows[0]},
    {"k8v4_n2_w32768", kDrafter, kK8V4Rows[1]},
    {"k8v4_n3_w32768", kDrafter, kK8V4Rows[2]},
    {"k8v4_n4_w32768", kDrafter, kK8V4Rows[3]},
    {"k8v4_n4_w2051", kDrafter, kK8V4Rows[4]},
    {"q1", kMainLayer, kQ1},
    {"q2", kMainLayer, kQ2},
    {"q3", kMainLayer, kQ3},
    {"q4", kMainLayer, kQ4},
    {"q5", kMainLayer, kQ5},
    {"q6", "four queries of a main layer without a common cell", kQ6},
    {"q7", "a drafter's window", kQ7},
    {"q8", "a drafter's window", kQ8},
    {"q9", "a drafter's window", kQ9},
    {"q10", "four windows of a drafter without a common cell", kQ10},
    {"q11", "sixteen streams of four queries", kQ11},
    {"q12", "sixty-four streams", kQ12},
};

}  // namespace

std::span<const NamedWorkload> named_workloads() {
  return kWorkloads;
}

}  // namespace assay::kernels::qsa_decode
