#include "kernels/calibration/workloads.h"

#include <array>
#include <utility>

namespace assay::kernels::calibration {
namespace {

using Axis = std::pair<std::string_view, std::string_view>;

constexpr std::array<Axis, 2> chain(std::string_view elements, std::string_view steps) {
  return {{{"elements", elements}, {"steps", steps}}};
}

// One wave of an H200 at most. The longer the chain, the fewer there are, so that a cpu bears them
// too.
constexpr auto kC1 = chain("4224", "1");
constexpr auto kC3 = chain("4224", "250");
constexpr auto kC10 = chain("4224", "1300");
constexpr auto kC20 = chain("4224", "2800");
constexpr auto kC100 = chain("2112", "15000");
constexpr auto kC1000 = chain("256", "150000");
constexpr auto kCopySmall = chain("131072", "0");
constexpr auto kCopyL2 = chain("2097152", "0");
constexpr auto kCopyDram = chain("33554432", "0");

constexpr NamedWorkload kWorkloads[] = {
    {"c1", "about 1 us on an H200, nearly all of it the launch", kC1},
    {"c3", "about 3 us on an H200", kC3},
    {"c10", "about 10 us on an H200", kC10},
    {"c20", "about 20 us on an H200", kC20},
    {"c100", "about 100 us on an H200", kC100},
    {"c1000", "about 1 ms on an H200, in a single block", kC1000},
    {"copy_small", "a copy of 1 MiB in all", kCopySmall},
    {"copy_l2", "a copy of 16 MiB in all, which fits in the L2 of an H200", kCopyL2},
    {"copy_dram", "a copy of 256 MiB in all, which does not", kCopyDram},
};

}  // namespace

std::span<const NamedWorkload> named_workloads() {
  return kWorkloads;
}

}  // namespace assay::kernels::calibration
