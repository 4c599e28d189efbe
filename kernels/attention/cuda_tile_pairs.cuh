// The tile of 64 pairs that a warpgroup holds, of one item after the other: their queries in shared
// memory, what each pair sees, and where its states go. At D 256 two warpgroups share one.
#pragma once

#include "kernels/attention/cuda_item_stages.cuh"
#include "kernels/attention/cuda_tile_state.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

// Where a thread that computes is among its block's pairs and columns.
template <int kDim>
struct TileThread {
  ASSAY_DEVICE static int warpgroup() { return thread_id() / kWarpgroupThreads; }

  // Of the warpgroup: 16 pairs.
  ASSAY_DEVICE static int warp() { return thread_id() % kWarpgroupThreads / kLanes; }

  // Of the tile's 64 pairs, the thread's r-th.
  ASSAY_DEVICE static int pair_of(int r) { return warp() * 16 + lane_id() / 4 + 8 * r; }

  // The tile of 64 pairs of a warpgroup; at D 256 both share one.
  ASSAY_DEVICE static int own_tile() { return kDim == 256 ? 0 : warpgroup(); }

  ASSAY_DEVICE static int first_column() {
    return kDim == 256 ? kWarpgroupColumns * warpgroup() : 0;
  }

  // Threads that share a tile of queries.
  ASSAY_DEVICE static void sync_sharers() {
    if (kDim == 256 || warpgroup() == 0) {
      barrier_sync(kQueriesBarrier, kDim == 256 ? 2 * kWarpgroupThreads : kWarpgroupThreads);
    } else {
      barrier_sync(kQueriesBarrier + 1, kWarpgroupThreads);
    }
  }

  // Both warpgroups that share a tile.
  ASSAY_DEVICE static void sync_halves() { barrier_sync(kHalvesBarrier, 2 * kWarpgroupThreads); }
};

// The pairs of a tile that a thread and its warp hold, of one item after the other.
template <class Shape>
class TilePairs {
  static constexpr int kDim = Shape::kDim;

  using Thread = TileThread<kDim>;

 public:
  // The item's queries to the tile's panels, zeros where there is no pair; when kIsMasked, what
  // each pair of the tile sees to `ranges`.
  template <class Source>
  ASSAY_DEVICE void load(const Source& source,
                         const StateOutput& output,
                         const Item& item,
                         std::uint16_t* queries,
                         KeyRange* ranges) {
    constexpr int kThreads = kDim == 256 ? 2 * kWarpgroupThreads : kWarpgroupThreads;
    constexpr int kChunks = kDim / 8;
    const int group = source.num_heads_per_key();
    const int first_pair = item.tile * Shape::kPairs + Thread::own_tile() * kWarpgroupPairs;
    const int num_pairs = source.num_rows(item.stream) * group - first_pair;
    const int first_row = source.row(item.stream, 0);
    const auto place_of = [&](int pair) {
      const auto of = static_cast<unsigned>(pair) / static_cast<unsigned>(group);
      const int local = static_cast<int>(of);
      return Place{local, first_row + local, item.kv_head * group + pair - local * group};
    };
    // No step of the item before still reads.
    Thread::sync_sharers();
    ASSAY_NO_UNROLL
    for (int index = thread_id() % kThreads; index < kWarpgroupPairs * kChunks; index += kThreads) {
      const int pair = index / kChunks;
      const int chunk = index % kChunks;
      const bool is_there = pair < num_pairs;
      const Place place = place_of(first_pair + (is_there ? pair : 0));
      std::uint16_t* panel = queries + chunk / 8 * Shape::kQPanelElements;
      copy_async(reinterpret_cast<std::byte*>(panel + pair * kPanelColumns +
                                              ((chunk % 8) ^ (pair % 8)) * 8),
                 source.q_row(place.row, place.head) + 8 * chunk,
                 is_there);
    }
    commit_copies();
    has_any_ = Thread::warp() * 16 < num_pairs;
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      const Place place = place_of(first_pair + Thread::pair_of(r));
      const bool is_there = Thread::pair_of(r) < num_pairs;
      places_[r] = is_there ? place.row * output.num_heads + place.head : -1;
      if constexpr (Source::kIsMasked) {
        if (lane_id() % 4 == 0) {
          ranges[Thread::pair_of(r)] =
              is_there ? source.range(item.stream, place.local) : KeyRange{0, 0};
        }
      }
    }
    wait_for_copies<0>();
    fence_async_proxy();
    Thread::sync_sharers();
  }

  // Whether there are any of the warp's sixteen.
  ASSAY_DEVICE bool has_any() const { return has_any_; }

  // Rows that saw no key stay unwritten.
  ASSAY_DEVICE void store(const StateOutput& output,
                          const StateArrays& table,
                          std::int32_t number,
                          const TileState& state) const {
    ASSAY_UNROLL
    for (int r = 0; r < 2; ++r) {
      if (is_stored(state, r)) {
        store_row(table, place_of(output, number, r), r, state);
      }
    }
  }

 private:
  // Of a stream's pair: its row among the stream's and in the output, and its query head.
  struct Place {
    int local;
    int row;
    int head;
  };

  ASSAY_DEVICE std::int64_t place_of(const StateOutput& output, std::int32_t number, int r) const {
    return std::int64_t{number} * output.num_rows * output.num_heads + places_[r];
  }

  ASSAY_DEVICE float* o_of(const StateArrays& table, std::int64_t place) const {
    return table.o + place * kDim + Thread::first_column() + lane_id() % 4 * 2;
  }

  ASSAY_DEVICE void store_row(const StateArrays& table,
                              std::int64_t place,
                              int r,
                              const TileState& state) const {
    if (lane_id() % 4 == 0 && (kDim == 128 || Thread::warpgroup() == 1)) {
      table.m[place] = state.m[r];
      table.l[place] = state.l[r];
    }
    float* o = o_of(table, place);
    ASSAY_UNROLL
    for (int j = 0; j < kColumns; ++j) {
      *reinterpret_cast<Float2*>(o + kColumnKeys * j) = {state.o[TileState::element(r, 2 * j)],
                                                         state.o[TileState::element(r, 2 * j + 1)]};
    }
  }

  ASSAY_DEVICE bool is_stored(const TileState& state, int r) const {
    return places_[r] >= 0 && state.l[r] != 0;
  }

  bool has_any_ = false;
  std::int32_t places_[2];  // among a number's states, -1 where there is no pair
};

}  // namespace assay::kernels::attention
