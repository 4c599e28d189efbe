// block_attention: attention of a drafter's block. Row r of a stream's L rows sees the context keys
// c with n + r - c <= window, then the block's own keys: all of them, or when causal those up to r.
// bf16 inputs and output, fp32 sums on tensor cores. Context key c has position c, block key j
// position n + j. Bits: kernels/attention/contract.h; they depend on the row's q and the keys that
// it sees with their positions, on nothing else of the call.
#pragma once

#include "kernels/attention/contract.h"
#include "kernels/attention/tuned_items.h"
#include "kernels/operator.h"

#include "absl/status/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::kernels::block_attention {

inline constexpr int kLeastWidth = 2;
inline constexpr int kMostWidth = 16;

struct Shape {
  std::int32_t num_streams = 0;
  std::int32_t width = 0;  // L, rows of a stream's block
  std::int32_t num_heads = 0;
  std::int32_t num_kv_heads = 0;
  std::int32_t dim = 0;     // 128 or 256
  std::int32_t window = 0;  // distance to the oldest visible context key; INT32_MAX: none
  bool is_causal = false;
  std::int32_t num_groups = 0;    // of the longest stream: ceil((context + width) / 512)
  std::int32_t most_context = 0;  // of a stream
  std::vector<attention::StreamLoad> streams = {};
  float scale = 0;

  std::int32_t num_rows() const { return num_streams * width; }

  std::int32_t group() const { return num_heads / num_kv_heads; }
};

// Places in Problem::tensors(). R = num_streams * width rows, S = num_streams, N groups.
enum Tensor : std::size_t {
  kQ,         // bf16 [H, R, D]
  kKBlock,    // bf16 [HK, R, D]
  kVBlock,    // bf16 [HK, R, D]
  kKContext,  // bf16 [elements]: all streams; key c, head hk at offset + hk * head stride + c * D
  kVContext,  // bf16 [elements]
  kTable,  // i64 [S, 3]: element offsets into kKContext and kVContext, head stride; multiples of 8
  kLengths,   // i32 [S]: context keys n
  kOut,       // bf16 [R, H * D]
  kResult,    // f32 [R, H * D]: kOut before rounding
  kPartialM,  // f32 [N, R, H]: of each group; live where the row sees a key of the group
  kPartialL,  // f32 [N, R, H]
  kPartialO,  // f32 [N, R, H, D]
  kRunM,      // f32 [runs, R, H]: scratch; the folded groups of a run
  kRunL,      // f32 [runs, R, H]
  kRunO,      // f32 [runs, R, H, D]
  kSliceM,    // f32 [4 N, R, H]: scratch; slices that leave by themselves
  kSliceL,    // f32 [4 N, R, H]
  kSliceO,    // f32 [4 N, R, H, D]
  kNumTensors,
};

// What kernels take, by value. On CUDA the pointers are the device's. bf16 as its bits.
struct Params {
  const std::uint16_t* __restrict__ q;
  const std::uint16_t* __restrict__ k_block;
  const std::uint16_t* __restrict__ v_block;
  const std::uint16_t* __restrict__ k_context;
  const std::uint16_t* __restrict__ v_context;
  const std::int64_t* __restrict__ table;
  const std::int32_t* __restrict__ lengths;
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
  std::int32_t width;
  std::int32_t num_heads;
  std::int32_t num_kv_heads;
  std::int32_t num_groups;
  std::int32_t window;
  bool is_causal;
  float scale;
};

class BlockProblem : public Problem {
 public:
  virtual const Shape& shape() const = 0;

  // What `warpgroup` takes where a call leaves it open.
  virtual attention::TunedItems tuned() const { return {}; }
};

// Shape, tuning and pointers of a call whose problem is a BlockProblem.
const Shape& shape_of(const Call& call);
attention::TunedItems tuned_of(const Call& call);
Params params_of(const Call& call);

std::span<const AxisInfo> axes();

// What row `row` (0 .. width - 1) of a stream with `context` keys sees. Never overflows.
attention::KeyRange visible_range(const Shape& shape, std::int32_t context, std::int32_t row);

// Of a stream with `context` keys.
attention::StreamLoad load_of(const Shape& shape, std::int32_t context);

// INVALID_ARGUMENT names the field: head dim, heads not a multiple of key heads, more than 16 query
// heads a key head, a width outside [2, 16], a negative window, an offset or stride that is not a
// multiple of 8 elements.
absl::Status check_shape(const Shape& shape, std::span<const std::int64_t> table);

}  // namespace assay::kernels::block_attention
