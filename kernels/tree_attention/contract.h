// tree_attention: out[r, h] = softmax(scale * q[r, h] . K) V over what row r of a stream sees: the
// stream's committed keys, then the rows on its path, root first, itself last. bf16 inputs and
// output, fp32 sums on tensor cores. The key at place j of a row's path has position committed + j,
// so a key keeps its position when it is committed. Bits: kernels/attention/contract.h; they depend
// on the row's q and the keys that it sees, on nothing else of the call.
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/tuned_items.h"
#include "kernels/operator.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels::tree_attention {

inline constexpr int kMostDepth = 128;

struct Shape {
  std::int32_t num_streams = 0;
  std::int32_t num_rows = 0;  // of all streams
  std::int32_t num_heads = 0;
  std::int32_t num_kv_heads = 0;
  std::int32_t dim = 0;             // 128 or 256
  std::int32_t num_groups = 0;      // of the longest row: ceil((committed + depth) / 512)
  std::int32_t num_tiles = 0;       // of 16 pairs, see kTiles
  std::int32_t most_committed = 0;  // of a stream
  std::vector<attention::StreamLoad> streams = {};
  float scale = 0;  // 1 / sqrt(dim) rounded to fp32 unless the data asks for another

  std::int32_t group() const { return num_heads / num_kv_heads; }
};

// Places in Problem::tensors(). W = num_rows, S = num_streams, H heads, HK key heads, D dim, N
// groups.
enum Tensor : std::size_t {
  kQ,       // bf16 [W, H, D]
  kKRows,   // bf16 [W, HK, D] keys of the drafted rows
  kVRows,   // bf16 [W, HK, D]
  kKCache,  // bf16 [elements]: all streams; key i, head hk of a stream at offset + (i * HK + hk) *
            // D
  kVCache,  // bf16 [elements]
  kCacheTable,   // i64 [S, 2]: element offsets into kKCache and kVCache, multiples of 8
  kStreamTable,  // i32 [S, 3]: first row, number of rows, committed keys
  kRowStream,    // i32 [W]
  kPaths,        // i32 [W, 128]: global rows, root first, the row itself last; then -1
  kDepths,       // i32 [W]: rows on the path, at least 1
  kTiles,        // i32 [T, 2]: stream and first pair; pair = local row * G + head in group
  kOut,          // bf16 [W, H, D]
  kResult,       // f32 [W, H, D]: kOut before rounding
  kPartialM,     // f32 [N, W, H]: of each group; live where the row sees a key of the group
  kPartialL,     // f32 [N, W, H]
  kPartialO,     // f32 [N, W, H, D]
  kRunM,         // f32 [runs, W, H]: scratch; the folded committed groups of a run
  kRunL,         // f32 [runs, W, H]
  kRunO,         // f32 [runs, W, H, D]
  kSliceM,       // f32 [N, 4, W, H]: scratch of the one-warp form
  kSliceL,       // f32 [N, 4, W, H]
  kSliceO,       // f32 [N, 4, W, H, D]
  kNumTensors,
};

// What kernels take, by value. On CUDA the pointers are the device's. bf16 as its bits.
struct Params {
  const std::uint16_t* __restrict__ q;
  const std::uint16_t* __restrict__ k_rows;
  const std::uint16_t* __restrict__ v_rows;
  const std::uint16_t* __restrict__ k_cache;
  const std::uint16_t* __restrict__ v_cache;
  const std::int64_t* __restrict__ cache_table;
  const std::int32_t* __restrict__ stream_table;
  const std::int32_t* __restrict__ row_stream;
  const std::int32_t* __restrict__ paths;
  const std::int32_t* __restrict__ depths;
  const std::int32_t* __restrict__ tiles;
  std::uint16_t* __restrict__ out;
  float* __restrict__ result;
  float* __restrict__ partial_m;
  float* __restrict__ partial_l;
  float* __restrict__ partial_o;
  float* __restrict__ run_m;
  float* __restrict__ run_l;
  float* __restrict__ run_o;
  float* __restrict__ slice_m;
  float* __restrict__ slice_l;
  float* __restrict__ slice_o;
  std::int32_t num_streams;
  std::int32_t num_rows;
  std::int32_t num_heads;
  std::int32_t num_kv_heads;
  std::int32_t num_groups;
  std::int32_t num_tiles;
  float scale;
};

class TreeProblem : public Problem {
 public:
  virtual const Shape& shape() const = 0;

  // What `warpgroup` takes where a call leaves it open.
  virtual attention::TunedItems tuned() const { return {}; }
};

// Shape, tuning and pointers of a call whose problem is a TreeProblem.
const Shape& shape_of(const Call& call);
attention::TunedItems tuned_of(const Call& call);
Params params_of(const Call& call);

std::span<const AxisInfo> axes();

// The rows' paths and depths, from parents that are local to their stream (-1: a root).
struct Paths {
  std::vector<std::int32_t> paths;   // [rows, 128], global rows; then -1
  std::vector<std::int32_t> depths;  // [rows]
};

// `first_row` is the global row of the stream's row 0. INVALID_ARGUMENT names the row whose parent
// is not before it (a cycle included), is below -1, or makes a path deeper than 128; and an empty
// stream.
absl::StatusOr<Paths> make_paths(std::span<const std::int32_t> parents, std::int32_t first_row);

// INVALID_ARGUMENT names the field: head dim, heads not a multiple of key heads, more than 16 query
// heads a key head, an offset that is not a multiple of 8 elements, a negative count.
absl::Status check_shape(const Shape& shape, std::span<const std::int64_t> cache_offsets);

}  // namespace assay::kernels::tree_attention
