// qsa_decode: out[q, h, :] = softmax(0.0625 * q . K[ids[q]]) V[ids[q]] over selected, resident
// cells of a paged cache. fp32 arithmetic; K and V in one of four formats. Bit contract: chunks of
// 64 selected cells; a lane sums dims 8l..8l+7 as t = k1*q1, t = fma(k0, q0, t), then fma 2..7;
// lanes meet in the xor tree 16, 8, 4, 2, 1; softmax within the chunk by exp_bits(); l sums (e[i] +
// e[i + 32]) in the same tree; values fold by one fma per live cell, ascending; the merge is one
// chain of fma over ascending chunks and one division. It depends on the selection only.
#pragma once

#include "kernels/operator.h"
#include "kernels/qsa_decode/tuned_launch.h"

#include "absl/status/statusor.h"

#include <cfloat>
#include <cstdint>
#include <span>

namespace assay::kernels::qsa_decode {

inline constexpr int kNumHeads = 24;
inline constexpr int kNumKvHeads = 2;
inline constexpr int kGroup = 12;  // query heads per KV head; head h reads KV head h / 12
inline constexpr int kHeadDim = 256;
inline constexpr int kChunk = 64;
inline constexpr int kLanes = 32;
inline constexpr int kDimsPerLane = 8;
inline constexpr float kScoreScale = 0.0625F;
inline constexpr float kEmptyMark = -FLT_MAX;  // m of a chunk with nothing to attend; its l is 0
inline constexpr int kScaleGroup = 64;         // int8: dims per fp16 scale
inline constexpr int kQ4Block = 32;            // q4_0: dims per 18-byte block
inline constexpr int kQ4RowBytes = 144;

enum class KvFormat : std::int32_t { kFp16, kInt8, kQ4_0, kK8V4 };

struct Shape {
  KvFormat kv = KvFormat::kFp16;
  std::int32_t num_queries = 0;  // streams * n_q
  std::int32_t cap = 0;          // allocated ids per query
  std::int32_t num_chunks = 0;   // ceil(cap / 64)
  std::int32_t page_size = 0;
  std::int32_t num_logical_pages = 0;
  std::int32_t num_physical_pages = 0;
  bool step_entry = false;  // the single-query entry: ids and steps have no query stride
};

// Places in Problem::tensors(). A tensor that a format does not have is there with no elements.
enum Tensor : std::size_t {
  kQ,          // f32 [num_queries, 24, 256]
  kIds,        // i32 [num_queries, cap] logical cells
  kSteps,      // i32 [num_queries, 4] {pos, n_kv, num_blocks, width}; only width is read
  kPageTable,  // i32 [num_logical_pages] physical page, negative: not resident
  kK,  // fp16: f16 [pages, 2, page_size, 256]; int8, k8v4: i8 same; q4_0: u8 [pages, 2, page_size,
       // 144]
  kKScales,  // int8, k8v4: f16 [pages, 2, page_size, 4]
  kV,        // fp16: f16; int8: i8; q4_0, k8v4: u8 [pages, 2, page_size, 144]
  kVScales,  // int8: f16 [pages, 2, page_size, 4]
  kOut,      // f32 [num_queries, 24, 256]
  kAcc,      // f32 [num_queries, 2, num_chunks, 12, 256]; unwritten for chunks past the width
  kM,        // f32 [num_queries, 2, num_chunks, 12]
  kL,        // f32 [num_queries, 2, num_chunks, 12]
  kNumTensors,
};

// What kernels take, by value. On CUDA the pointers are the device's.
struct Params {
  const float* __restrict__ q;
  const std::int32_t* __restrict__ ids;
  const std::int32_t* __restrict__ steps;
  const std::int32_t* __restrict__ page_table;
  const void* __restrict__ k;
  const void* __restrict__ k_scales;
  const void* __restrict__ v;
  const void* __restrict__ v_scales;
  float* __restrict__ out;
  float* __restrict__ acc;
  float* __restrict__ m;
  float* __restrict__ l;
  std::int32_t num_queries;
  std::int32_t num_chunks;
  std::int32_t ids_stride;    // cap, or 0 for the step entry
  std::int32_t steps_stride;  // 4, or 0 for the step entry
  std::int32_t page_size;
};

class QsaProblem : public Problem {
 public:
  virtual const Shape& shape() const = 0;

  // What `auto` stands for on a device that the table is of; elsewhere it is TunedLaunch's
  // defaults.
  virtual TunedLaunch tuned(TunedForm /*form*/) const { return {}; }
};

// Shape, tuning and pointers of a call whose problem is a QsaProblem.
const Shape& shape_of(const Call& call);
TunedLaunch tuned_of(const Call& call, TunedForm form);
Params params_of(const Call& call);

std::span<const AxisInfo> axes();
// INVALID_ARGUMENT names the axis.
absl::StatusOr<Shape> parse_shape(const Workload& workload);

// INVALID_ARGUMENT names the first width, id or page that would read outside its tensor. Host
// pointers only.
absl::Status check_indices(const Shape& shape, const Params& params);

}  // namespace assay::kernels::qsa_decode
