#include "profiler/notes.h"

#include "profiler/clocks.h"
#include "profiler/rounds.h"
#include "profiler/statistics.h"
#include "profiler/tensor.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::profiler {

namespace {

std::string note_others(const v1::Configuration& configuration) {
  std::int64_t num_shared = 0;
  std::int64_t num_blocks = 0;
  for (const v1::Measurement* arm : {&configuration.baseline(), &configuration.candidate()}) {
    num_blocks += arm->blocks_size();
    num_shared += std::ranges::count_if(
        arm->blocks(), [](const v1::Block& block) { return block.num_other_processes() > 0; });
  }
  return num_shared == 0 ? ""
                         : absl::StrCat("; another process had the device too in ",
                                        with_commas(num_shared),
                                        " of ",
                                        with_commas(num_blocks),
                                        " blocks");
}

}  // namespace

std::string notes_of(const v1::Configuration& configuration) {
  std::string notes;
  const ArmClocks clocks = clocks_of(configuration);
  if (clocks.differ()) {
    absl::StrAppend(&notes, "; ", describe(clocks));
  }
  if (const std::string lost = describe_disqualified(configuration); !lost.empty()) {
    absl::StrAppend(&notes, "; ", lost);
  }
  absl::StrAppend(&notes, note_others(configuration));
  for (const auto& [arm, name] : {std::pair(&configuration.baseline(), "baseline"),
                                  std::pair(&configuration.candidate(), "candidate")}) {
    if (arm->has_admission() && !arm->admission().stable()) {
      absl::StrAppend(&notes, "; when the ", name, " was let in, ", arm->admission().detail());
    }
    const ArmTimes times = arm_times(*arm, "total");
    const std::int64_t invalid = std::max<std::int64_t>(arm->num_invalid_records(), times.num_zero);
    const std::int64_t lost = invalid + times.num_too_fast + arm->num_dropped_records();
    if (lost > 0) {
      absl::StrAppend(&notes,
                      "; the ",
                      name,
                      "'s result is incomplete: ",
                      with_commas(invalid),
                      " invalid, ",
                      with_commas(times.num_too_fast),
                      " impossibly fast, ",
                      with_commas(arm->num_dropped_records()),
                      " dropped");
    }
    if (is_first_sample_cold(good_samples(times))) {
      absl::StrAppend(&notes, "; the ", name, "'s first sample is cold");
    }
  }
  return notes;
}

}  // namespace assay::profiler
