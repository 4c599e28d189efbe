// A ring of tiles in shared memory, filled by asynchronous copies that run ahead of their use: one
// ring a warp, or one that all warps of a block share.
#pragma once

#include "kernels/attention/cuda_slice.cuh"
#include "kernels/attention/cuda_walk.cuh"

#include <cstddef>
#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kLeastStages = 2;
inline constexpr int kMostStages = 4;

// Until at most `pending` of the thread's newest groups of copies are on their way.
ASSAY_DEVICE void wait_for_all_but(int pending) {
  if (pending == 0) {
    wait_for_copies<0>();
  } else if (pending == 1) {
    wait_for_copies<1>();
  } else if (pending == 2) {
    wait_for_copies<2>();
  } else if (pending == 3) {
    wait_for_copies<3>();
  } else {
    wait_for_copies<4>();
  }
}

// Rows of keys at positions [begin, end), `stride` elements apart.
struct EvenRows {
  const std::uint16_t* first;
  std::int64_t stride;
  std::int32_t begin;
  std::int32_t end;
};

// `Keys` has row(position, is_value): where a key's row of kDim bf16 lies; and even_rows(is_value):
// those that need no such look-up.
template <int kDim, class Keys, bool kIsShared, Defect kDefect = Defect::kNone>
class TileRing {
 public:
  ASSAY_DEVICE TileRing(const Keys& keys,
                        const TileCursor& cursor,
                        std::byte* stages,
                        int num_stages)
      : keys_(keys), cursor_(cursor), stages_(stages), num_stages_(num_stages) {
    cursor_.start();
  }

  // The first copies, all but one stage; to be called once, before next_unit().
  ASSAY_DEVICE void fill() {
    for (int stage = 0; stage + 1 < num_stages_; ++stage) {
      copy_next();
    }
  }

  // The next 16 keys or values.
  ASSAY_DEVICE const std::byte* next_unit() {
    const int units = cursor_.keys.tile / kStepKeys;
    if (unit_ == units || unit_ < 0) {
      next_tile();
      unit_ = 0;
    }
    return read_ + kRowBytes<kDim> * kStepKeys * unit_++;
  }

 private:
  ASSAY_DEVICE int stage_bytes() const { return cursor_.keys.tile * kRowBytes<kDim>; }

  ASSAY_DEVICE void next_tile() {
    // All tiles but those that were asked for after the one to be read.
    wait_for_all_but(num_stages_ - 2);
    // The tile has landed for all, and none still reads the one before it.
    if constexpr (kIsShared) {
      sync_block();
    } else {
      sync_warp();
    }
    read_ = stages_ + read_stage_ * stage_bytes();
    read_stage_ = read_stage_ + 1 == num_stages_ ? 0 : read_stage_ + 1;
    copy_next();
  }

  // One group of copies a tile, an empty one at the end, so that a wait counts tiles.
  ASSAY_DEVICE void copy_next() {
    if (!cursor_.is_done()) {
      std::byte* target = stages_ + write_stage_ * stage_bytes();
      if constexpr (kDefect == Defect::kOverwritesTileBeingRead) {
        target = read_ != nullptr ? read_ : target;
      }
      copy_tile(target);
      cursor_.advance();
      write_stage_ = write_stage_ + 1 == num_stages_ ? 0 : write_stage_ + 1;
    }
    commit_copies();
  }

  ASSAY_DEVICE void copy_tile(std::byte* tile) {
    constexpr int kRowChunks = kDim / kChunkElements;
    constexpr int kRowsAtOnce = kLanes / kRowChunks;
    static_assert(kRowsAtOnce * kRowChunks == kLanes, "a warp copies whole rows");
    const int lane = lane_id();
    const int chunk = lane % kRowChunks;
    const int warp = kIsShared ? warp_id() : 0;
    const int num_warps = kIsShared ? num_threads() / kLanes : 1;
    int first = cursor_.first_key();
    const bool is_values = cursor_.is_values;
    if constexpr (kDefect == Defect::kReadsNextTile) {
      first += is_values ? cursor_.keys.tile : 0;
    }
    const KeyRange loaded = cursor_.keys.loaded;

    const int step = kRowsAtOnce * num_warps;
    int row = warp * kRowsAtOnce + lane / kRowChunks;

    // Loops that are not unrolled: their copies stand in every unit of a slice. The first takes the
    // tile's rows as far as one base and stride reach.
    const EvenRows even = keys_.even_rows(is_values);
    const int even_end = even.end < loaded.end ? even.end : loaded.end;
    const int rest = first < loaded.begin ? 0 : even_end - first;
    const int num_even = rest < cursor_.keys.tile ? rest : cursor_.keys.tile;
    if (row < num_even) {
      const std::uint16_t* source =
          even.first + (first + row - even.begin) * even.stride + chunk * kChunkElements;
      std::byte* target = tile + row * kRowBytes<kDim>;
      ASSAY_NO_UNROLL
      for (; row < num_even; row += step) {
        copy_async(target + ((chunk ^ (row % 8)) * kChunkBytes), source, true);
        source += step * even.stride;
        target += step * kRowBytes<kDim>;
      }
    }
    ASSAY_NO_UNROLL
    for (; row < cursor_.keys.tile; row += step) {
      const int position = first + row;
      const bool is_seen = position >= loaded.begin && position < loaded.end;
      // A row that is not read still needs an address.
      const std::uint16_t* source = keys_.row(is_seen ? position : loaded.begin, is_values);
      bool is_there = is_seen;
      if constexpr (kDefect == Defect::kKeepsMaskedValues) {
        is_there = is_seen || is_values;
        source = is_seen || !is_values ? source : keys_.unseen_value(position);
      }
      copy_async(chunk_of<kDim>(tile, row, chunk), source + chunk * kChunkElements, is_there);
    }
  }

  const Keys& keys_;
  TileCursor cursor_;
  std::byte* stages_;
  std::byte* read_ = nullptr;
  int num_stages_;
  int read_stage_ = 0;
  int write_stage_ = 0;
  int unit_ = -1;
};

}  // namespace assay::kernels::attention
