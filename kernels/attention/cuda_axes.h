// Launch parameters that attention's CUDA variants share: speed, never bits.
#pragma once

#include "kernels/operator.h"

#include <cstdint>
#include <iterator>
#include <string_view>

namespace assay::kernels::attention {

inline constexpr std::string_view kTileNames[] = {"16", "32", "64"};
inline constexpr std::int32_t kTileChoices[] = {16, 32, 64};
inline constexpr std::string_view kSpillNames[] = {"group", "run"};
inline constexpr std::string_view kBatchNames[] = {"1", "2", "4", "8", "16"};
inline constexpr std::int32_t kBatchChoices[] = {1, 2, 4, 8, 16};
inline constexpr std::string_view kResultNames[] = {"store", "skip"};
inline constexpr std::string_view kOnOffNames[] = {"on", "off"};

inline constexpr AxisInfo kStagesAxis = {.name = "stages",
                                         .help = "tiles in a ring, 2 to 4; 0: by rule",
                                         .default_value = "0",
                                         .min = 0,
                                         .max = 4};
inline constexpr AxisInfo kSpillAxis = {.name = "spill",
                                        .help = "what whole groups leave as: each, or a run of 8",
                                        .default_value = "group",
                                        .choices = kSpillNames};
inline constexpr AxisInfo kSmsAxis = {.name = "sms",
                                      .help = "multiprocessors to plan for; 0: the device's",
                                      .default_value = "0",
                                      .min = 0,
                                      .max = 1'024};
inline constexpr AxisInfo kMergeBatchAxis = {.name = "merge_batch",
                                             .help = "partials of a run that are loaded at once",
                                             .default_value = "8",
                                             .choices = kBatchNames};
inline constexpr AxisInfo kResultAxis = {.name = "result",
                                         .help = "whether the unrounded result is stored",
                                         .default_value = "store",
                                         .choices = kResultNames};
inline constexpr AxisInfo kBlocksPerSmAxis = {
    .name = "blocks_per_sm",
    .help = "most blocks of the attend stage on a multiprocessor; 0: as many as fit",
    .default_value = "0",
    .min = 0,
    .max = 8};

// Of the warpgroup form. The choices of the spill are those of ItemSpill.
inline constexpr std::string_view kItemSpillNames[] = {"auto", "run", "group", "slice"};

// Whether every group's state is stored, by the choice of the spill.
constexpr bool leaves_groups(std::int32_t spill) {
  return spill >= 2;
}

// 16 swap the operands of the steps.
inline constexpr std::string_view kItemPairsNames[] = {"auto", "16", "64", "128"};
inline constexpr std::int32_t kItemPairsChoices[] = {0, 16, 64, 128};
inline constexpr AxisInfo kItemPairsAxis = {
    .name = "pairs",
    .help =
        "(row, head) pairs in a block, at head dim 256 at most 64; auto: as a sweep found for "
        "such a workload, else by the stream's",
    .default_value = "auto",
    .choices = kItemPairsNames};
inline constexpr AxisInfo kItemStagesAxis = {
    .name = "stages",
    .help =
        "copies of 32 KiB in flight and in use, 2 to 6; 0: with pairs=auto as a sweep found for "
        "such a workload, else as many as fit",
    .default_value = "0",
    .min = 0,
    .max = 6};
inline constexpr AxisInfo kItemSpillAxis = {
    .name = "spill",
    .help = "what leaves a block: a run of 8 groups, each group, each slice; auto: by the grid",
    .default_value = "auto",
    .choices = kItemSpillNames};

inline constexpr AxisInfo kPdlAxis = {
    .name = "pdl",
    .help = "programmatic dependent launch: the merge begins while blocks still attend",
    .default_value = "on",
    .choices = kOnOffNames};

constexpr AxisInfo tile_axis(std::string_view default_value) {
  return {.name = "tile",
          .help = "keys that are copied together",
          .default_value = default_value,
          .choices = kTileNames};
}

// Parameters come checked by their axes; this keeps an unchecked call from reading past a table.
template <std::size_t kCount>
constexpr bool is_choice(std::int32_t choice, const std::int32_t (&)[kCount]) {
  return choice >= 0 && static_cast<std::size_t>(choice) < kCount;
}

}  // namespace assay::kernels::attention
