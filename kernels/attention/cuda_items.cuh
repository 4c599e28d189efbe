// Items of the warpgroup form of attention (cuda_warpgroup.cuh, cuda_swapped.cuh): all (row, query
// head) pairs of a stream and key head, in tiles, share staged panels of K and V
// (cuda_item_stages.cuh). A block walks items, each the slices of a run or of a piece of one.
// At D 128 a warpgroup holds a tile of 64 pairs; at D 256 two warpgroups share one: each computes
// the weights of half of a slice's keys and holds half of the columns.
//
// A Source says what is attended; all of it may be read on the device:
//   num_streams(), num_rows(stream), num_kv_heads(), num_heads_per_key()
//   keys(stream): positions that any row sees; the others' values are read as zeros
//   num_whole_groups(stream): groups from it on leave as slices
//   k_at(stream, kv_head), v_at(): element of position 0 in the tensor that K's or V's map covers
//   row(stream, local row): its place in the output; a stream's rows lie one behind the other
//   q_row(row, head): D elements of a place in the output and a query head
// and when kIsMasked, else all rows see all of keys(stream), which are whole slices of the map:
//   range(stream, local row): what a row sees
//   common(stream): what all rows see
//   mapped(stream): positions that lie in the map
//   k_rows(stream, kv_head), v_rows(): at(position) of which are D elements, mapped or not
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/cuda_item_plan.cuh"
#include "kernels/attention/cuda_wgmma.cuh"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kWarpgroupThreads = 128;
inline constexpr int kWarpgroupPairs = 64;
inline constexpr int kWarpgroupColumns = 128;
inline constexpr int kPanelColumns = 64;
inline constexpr int kPanelAlignment = 1'024;
inline constexpr int kPanelBytes = kSliceKeys * kPanelColumns * 2;
inline constexpr int kWarpgroupStateBytes = kWarpgroupPairs * kWarpgroupColumns * 4;
inline constexpr int kBoxRows = 8;  // of the small boxes
inline constexpr int kMostItemStages = 6;
inline constexpr int kItemSlots = 8;

// What leaves an item: a run's, a group's or a slice's state. kAuto: as the plan cuts runs.
enum class ItemSpill : std::int32_t { kAuto, kRun, kGroup, kSlice };

// One item of a block: consecutive slices of one run. One without slices ends the block's work.
struct Item {
  std::int32_t stream = 0;
  std::int32_t kv_head = 0;
  std::int32_t tile = 0;
  std::int32_t first_slice = 0;  // absolute, of keys(stream) within the groups
  std::int32_t end_slice = 0;
  std::int32_t first_lone_slice = 0;  // this and later ones leave as slices
  ItemSpill spill = ItemSpill::kRun;  // whose state leaves, of the slices before
  std::int32_t is_new_tile = 0;       // other queries than the block's item before
  KeyRange common;                    // when kIsMasked
};

// Barriers of a block and the items that its copying warp is ahead by.
struct ItemControl {
  Barrier full[kMostItemStages];
  Barrier empty[kMostItemStages];
  Barrier published[kItemSlots];
  Item items[kItemSlots];
};

// What two warpgroups tell each other that each have half of a slice's keys.
struct SliceHalves {
  float maxima[2][kWarpgroupPairs];
  float sums[kWarpgroupPairs][8];  // of the first half, by key modulo 8
};

template <int kDimOf, int kTiles>
struct WarpgroupShape {
  static_assert(kDimOf == 128 || kDimOf == 256, "a warpgroup holds 128 columns");
  static_assert(kDimOf == 128 || kTiles == 1, "at D 256 the warpgroups share one tile of pairs");

  static constexpr int kDim = kDimOf;
  static constexpr int kWarpgroups = kDim == 256 ? 2 : kTiles;
  static constexpr int kConsumers = kWarpgroups * kWarpgroupThreads;
  // Beside those that compute, a warpgroup whose first warp copies: registers can be handed over
  // between whole warpgroups only.
  static constexpr int kThreads = kConsumers + kWarpgroupThreads;
  static constexpr int kBlocksPerSm = kDim == 128 && kTiles == 1 ? 2 : 1;
  static constexpr int kCopyRegisters = 40;  // of a thread
  static constexpr int kComputeRegisters = kBlocksPerSm == 2 ? 216 : 232;
  static constexpr int kPairs = kTiles * kWarpgroupPairs;
  static constexpr int kPanels = kDim / kPanelColumns;  // of a row
  static constexpr int kHalfStages = kPanels / 2;       // a stage is two panels of K or of V
  static constexpr int kSliceStages = 2 * kHalfStages;
  static constexpr int kPanelElements = kSliceKeys * kPanelColumns;
  static constexpr int kStageElements = 2 * kPanelElements;
  static constexpr int kQPanelElements = kWarpgroupPairs * kPanelColumns;
  static constexpr int kQElements = kTiles * kPanels * kQPanelElements;

  // Weights of a slice that the warpgroups share.
  static constexpr int kWeightElements = kDim == 256 ? kWarpgroupPairs * kSliceKeys : 0;
  static constexpr int kHalvesBytes = kDim == 256 ? static_cast<int>(sizeof(SliceHalves)) : 0;

  static constexpr std::int64_t shared_bytes(int num_stages) {
    return 2 * (std::int64_t{num_stages} * kStageElements + std::int64_t{kQElements} +
                std::int64_t{kWeightElements}) +
           kWarpgroups * kWarpgroupStateBytes + kHalvesBytes +
           kPairs * static_cast<std::int64_t>(sizeof(KeyRange)) +
           static_cast<std::int64_t>(sizeof(ItemControl));
  }
};

// Tiles of `tile_pairs`, a power of two, and key heads of a stream.
template <class Source>
ASSAY_HOST_DEVICE inline std::int32_t num_units_of(const Source& source,
                                                   std::int32_t stream,
                                                   int tile_pairs) {
  const std::int32_t pairs = source.num_rows(stream) * source.num_heads_per_key();
  return PieceSize::of(tile_pairs).piece_of(pairs + tile_pairs - 1) * source.num_kv_heads();
}

// Whole runs of a stream, of all its tiles and key heads.
template <class Source>
ASSAY_HOST_DEVICE inline std::int32_t num_whole_runs_of(const Source& source,
                                                        std::int32_t stream,
                                                        int tile_pairs) {
  return WholePieces::of(slices_of(source.keys(stream)), kRunSize).count *
         num_units_of(source, stream, tile_pairs);
}

// How a stream is cut. A warp calls together.
template <class Source>
ASSAY_DEVICE StreamCut
cut_of(const Source& source, std::int32_t stream, const ItemPlan& plan, int tile_pairs) {
  std::int32_t before = 0;
  if (plan.num_whole > 0) {
    for (std::int32_t other = lane_id(); other < stream; other += kLanes) {
      before += num_whole_runs_of(source, other, tile_pairs);
    }
    before = warp_sum(before);
  }
  return StreamCut::of(
      slices_of(source.keys(stream)), plan, num_units_of(source, stream, tile_pairs), before);
}

// The items of a block in order: every num_blocks'th of the plan. A warp calls together.
template <class Source>
class ItemWalk {
 public:
  ASSAY_DEVICE ItemWalk(const Source& source,
                        const ItemPlan& plan,
                        int tile_pairs,
                        std::int32_t first,
                        std::int32_t num_blocks)
      : source_(source),
        plan_(plan),
        tile_pairs_(tile_pairs),
        next_(first),
        step_(num_blocks),
        level_(plan.num_whole == 0 ? 1 : 0) {
    take_streams(0);
  }

  // False when there is no further item.
  ASSAY_DEVICE bool next(Item& item) {
    for (;;) {
      const std::int32_t end = shuffle_from(end_, kLanes - 1);
      if (next_ < end) {
        break;
      }
      begin_ = end;
      runs_before_ += runs_here_;
      if (first_stream_ + kLanes < source_.num_streams()) {
        take_streams(first_stream_ + kLanes);
      } else if (++level_ < kItemLevels) {
        runs_before_ = 0;
        take_streams(0);
      } else {
        return false;
      }
    }
    locate(next_, item);
    next_ += step_;
    return true;
  }

 private:
  // A stream for each lane from `first` on, and the items of the level up to its end.
  ASSAY_DEVICE void take_streams(std::int32_t first) {
    first_stream_ = first;
    const std::int32_t stream = first + lane_id();
    const bool is_there = stream < source_.num_streams();
    own_runs_before_ = 0;
    runs_here_ = 0;
    if (plan_.num_whole > 0) {
      const std::int32_t runs = is_there ? num_whole_runs_of(source_, stream, tile_pairs_) : 0;
      const std::int32_t up_to = sum_up_to_lane(runs);
      own_runs_before_ = runs_before_ + up_to - runs;
      runs_here_ = shuffle_from(up_to, kLanes - 1);
    }
    std::int32_t items = 0;
    if (is_there) {
      const std::int32_t units = num_units_of(source_, stream, tile_pairs_);
      items = units * StreamCut::of(slices_of(source_.keys(stream)), plan_, units, own_runs_before_)
                          .count(level_);
    }
    end_ = begin_ + sum_up_to_lane(items);
  }

  ASSAY_DEVICE void locate(std::int32_t number, Item& item) {
    const std::int32_t passed = warp_sum(end_ <= number ? 1 : 0);
    const std::int32_t end_before = shuffle_from(end_, passed - 1);
    const std::int32_t place = number - (passed == 0 ? begin_ : end_before);
    const std::int32_t stream = first_stream_ + passed;
    const std::int32_t units = num_units_of(source_, stream, tile_pairs_);
    const StreamCut cut = StreamCut::of(
        slices_of(source_.keys(stream)), plan_, units, shuffle_from(own_runs_before_, passed));
    const auto index = static_cast<std::uint32_t>(place) / static_cast<std::uint32_t>(units);
    const SliceRange slices = cut.item(level_, static_cast<std::int32_t>(index));
    const auto unit = static_cast<std::uint32_t>(place) - index * static_cast<std::uint32_t>(units);
    const auto num_kv_heads = static_cast<std::uint32_t>(source_.num_kv_heads());
    item.stream = stream;
    item.kv_head = static_cast<std::int32_t>(unit % num_kv_heads);
    item.tile = static_cast<std::int32_t>(unit / num_kv_heads);
    item.first_slice = slices.begin;
    item.end_slice = slices.end;
    item.spill = cut.leaves_run(slices.begin) ? ItemSpill::kRun : ItemSpill::kGroup;
    item.first_lone_slice = plan_.leaves_slices() ? 0 : source_.num_whole_groups(stream) * kSlices;
  }

  const Source& source_;
  const ItemPlan& plan_;
  int tile_pairs_;
  std::int32_t next_;
  std::int32_t step_;
  int level_;
  std::int32_t begin_ = 0;  // items before the level's of first_stream_
  std::int32_t first_stream_ = 0;
  std::int32_t runs_before_ = 0;  // whole ones, of streams before first_stream_
  std::int32_t runs_here_ = 0;    // of the lanes' streams
  std::int32_t own_runs_before_ = 0;
  std::int32_t end_ = 0;  // the lane's
};

}  // namespace assay::kernels::attention
