// Launch parameters of qsa_decode's CUDA variants, and what a call's come to. Speed, never bits.
#pragma once

#include "kernels/operator.h"
#include "kernels/qsa_decode/tuned_launch.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

namespace assay::kernels::qsa_decode {

// Places of launch parameters: the same for all variants, as far as a variant has them.
enum LaunchParameter : std::size_t { kMerge, kMergeBatch, kMergeBlocks, kPrefetch, kCellsPerStep };

// Names begin with the choices; `auto` is the one behind them.
inline constexpr std::int32_t kCellChoices[] = {1, 2, 4, 8};
inline constexpr std::int32_t kBatchChoices[] = {4, 8, 16, 32};
inline constexpr std::int32_t kBlockChoices[] = {1, 2, 4, 8};
inline constexpr std::string_view kMergeNames[] = {"all_chunks", "bounded"};
inline constexpr std::string_view kBatchNames[] = {"4", "8", "16", "32", "auto"};
inline constexpr std::string_view kPowerNames[] = {"1", "2", "4", "8", "auto"};
inline constexpr std::string_view kPrefetchNames[] = {"off", "l2", "auto"};

constexpr AxisInfo merge_axis(std::string_view default_value) {
  return {.name = "merge",
          .help = "which chunks the merge walks: the whole capacity, or those within the width",
          .default_value = default_value,
          .choices = kMergeNames};
}

inline constexpr AxisInfo kOneCellBatchAxis = {
    .name = "merge_batch",
    .help = "chunks that a bounded merge loads at once",
    .default_value = "16",
    .choices = std::span(kBatchNames).first(std::size(kBatchChoices))};
inline constexpr AxisInfo kBatchAxis = {
    .name = "merge_batch",
    .help =
        "chunks that a bounded merge loads at once; auto: as a sweep found for such a "
        "workload, else 16",
    .default_value = "auto",
    .choices = kBatchNames};
inline constexpr AxisInfo kBlocksAxis = {
    .name = "merge_blocks",
    .help =
        "blocks that share a head's dims in a bounded merge; auto: as a sweep found for such "
        "a workload, else 1",
    .default_value = "auto",
    .choices = kPowerNames};
inline constexpr AxisInfo kCellsAxis = {
    .name = "cells_per_step",
    .help = "cells that share one read of q; auto: as a sweep found for such a workload, else 2",
    .default_value = "auto",
    .choices = kPowerNames};
inline constexpr AxisInfo kPrefetchAxis = {
    .name = "prefetch",
    .help =
        "ask the L2 for a chunk's rows before they are read; auto: as a sweep found for such "
        "a workload, else off",
    .default_value = "auto",
    .choices = kPrefetchNames};

inline constexpr AxisInfo kOneCellParameters[] = {merge_axis("all_chunks"), kOneCellBatchAxis};
inline constexpr AxisInfo kTwoCellParameters[] = {
    merge_axis("bounded"), kBatchAxis, kBlocksAxis, kPrefetchAxis, kCellsAxis};
inline constexpr AxisInfo kLaneCellParameters[] = {
    merge_axis("bounded"), kBatchAxis, kBlocksAxis, kPrefetchAxis};

// The place of a value in its choices; their number where it is none of them.
template <std::size_t kCount>
constexpr std::int32_t place_of(std::int32_t value, const std::int32_t (&choices)[kCount]) {
  return static_cast<std::int32_t>(std::ranges::find(choices, value) - std::begin(choices));
}

// Without `auto`. Parameters that a variant does not have are 0.
struct LaunchChoices {
  std::int32_t merge = 0;   // place in kMergeNames
  std::int32_t batch = 0;   // place in kBatchChoices
  std::int32_t blocks = 0;  // place in kBlockChoices
  std::int32_t cells = 0;   // place in kCellChoices
  bool prefetch = false;

  constexpr bool operator==(const LaunchChoices&) const = default;

  // Parameters come checked by their axes; this keeps an unchecked call from reading past a table.
  constexpr bool are_valid() const {
    const auto is_place = [](std::int32_t place, std::size_t count) {
      return place >= 0 && static_cast<std::size_t>(place) < count;
    };
    return is_place(merge, std::size(kMergeNames)) && is_place(batch, std::size(kBatchChoices)) &&
           is_place(blocks, std::size(kBlockChoices)) && is_place(cells, std::size(kCellChoices));
  }
};

constexpr bool has_auto(const LaunchParameters& given) {
  return given.values[kMergeBatch] == std::ssize(kBatchChoices) ||
         given.values[kMergeBlocks] == std::ssize(kBlockChoices) || given.values[kPrefetch] == 2 ||
         given.values[kCellsPerStep] == std::ssize(kCellChoices);
}

constexpr LaunchChoices resolve(const LaunchParameters& given, const TunedLaunch& tuned) {
  const auto place = [&]<std::size_t kCount>(LaunchParameter parameter,
                                             std::int32_t value,
                                             const std::int32_t(&choices)[kCount]) {
    const std::int32_t asked = given.values[parameter];
    return asked == std::ssize(choices) ? place_of(value, choices) : asked;
  };
  const std::int32_t prefetch = given.values[kPrefetch];
  return {.merge = given.values[kMerge],
          .batch = place(kMergeBatch, tuned.merge_batch, kBatchChoices),
          .blocks = place(kMergeBlocks, tuned.merge_blocks, kBlockChoices),
          .cells = place(kCellsPerStep, tuned.cells_per_step, kCellChoices),
          .prefetch = prefetch == 2 ? tuned.prefetch : prefetch == 1};
}

}  // namespace assay::kernels::qsa_decode
