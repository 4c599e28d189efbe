#include "profiler/clocks.h"

#include "profiler/statistics.h"
#include "profiler/tensor.h"
#include "profiler/verdict.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace assay::profiler {

namespace {

double middle_of(const std::vector<double>& clocks) {
  return clocks.empty() ? 0 : *median(clocks);
}

double clock_of(const v1::Measurement& measurement) {
  std::vector<double> clocks;
  for (const v1::Block& block : measurement.blocks()) {
    if (!block.disqualified() && block.sm_clock_mhz() > 0) {
      clocks.push_back(block.sm_clock_mhz());
    }
  }
  return middle_of(clocks);
}

std::string megahertz(double clock) {
  return clock > 0 ? absl::StrCat(with_commas(std::llround(clock)), " MHz") : "unknown";
}

}  // namespace

bool ArmClocks::differ() const {
  return baseline_mhz > 0 && candidate_mhz > 0 &&
         std::abs(candidate_mhz / baseline_mhz - 1) > kClockShare;
}

ArmClocks clocks_of(const v1::Configuration& configuration) {
  return {clock_of(configuration.baseline()), clock_of(configuration.candidate())};
}

std::string describe(const ArmClocks& clocks) {
  return absl::StrCat("clocks differ: A at ",
                      megahertz(clocks.baseline_mhz),
                      ", B at ",
                      megahertz(clocks.candidate_mhz));
}

std::string describe_disqualified(const v1::Configuration& configuration) {
  std::int64_t num_disqualified = 0;
  std::string why;
  std::vector<double> seen;
  std::vector<double> good;
  std::uint32_t wanted = 0;
  for (const v1::Measurement* arm : {&configuration.baseline(), &configuration.candidate()}) {
    for (const v1::Block& block : arm->blocks()) {
      wanted = std::max(wanted, block.wanted_sm_clock_mhz());
      if (block.sm_clock_mhz() > 0) {
        (block.disqualified() ? seen : good).push_back(block.sm_clock_mhz());
      }
      if (block.disqualified()) {
        ++num_disqualified;
        why = why.empty() ? block.disqualified_because() : why;
      }
    }
  }
  if (num_disqualified == 0) {
    return "";
  }
  return absl::StrCat(with_commas(num_disqualified),
                      num_disqualified == 1 ? " block was" : " blocks were",
                      " disqualified",
                      why.empty() ? "" : absl::StrCat(" (", why, ")"),
                      ": seen ",
                      megahertz(middle_of(seen)),
                      ", wanted ",
                      megahertz(wanted > 0 ? wanted : middle_of(good)));
}

}  // namespace assay::profiler
