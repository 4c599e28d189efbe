// The cpu kernels of one instruction set, as plain functions: what a launcher calls for each task.
// Everything behind these tables is compiled for that set and shares no function with the rest.
// They know rows of q, keys and ranges, and no operator. Two families: the sm_90 tensor-core model,
// and plain fp32 fma with weights that are not rounded; both keep the hierarchy of contract.h.
#pragma once

#include "kernels/attention/contract.h"

#include <cstdint>

namespace assay::kernels::attention {

inline constexpr int kMostDim = 256;
inline constexpr int kMostTilePairs = 64;  // pairs that share expanded keys

enum class Family : std::uint8_t { kTensorCore, kFp32 };

// Defects that only the arithmetic can carry.
enum class EngineMutation : std::uint8_t {
  kNone,
  kDropsFourthSlice,
  kSlicesInReverse,
  kContractsOneFold,
  kMergesInReverse,
  kLeavesTailUnwritten,
};

// One (row, query head) in one group. `keys` counts from the group's first position and is not
// empty; m, l and o are where the group's state goes.
struct TilePair {
  const std::uint16_t* q = nullptr;  // bf16 [dim]
  KeyRange keys;
  float* m = nullptr;
  float* l = nullptr;
  float* o = nullptr;  // [dim]
};

// Pairs of one group over the same keys. A key's row is null where no pair sees it: it then counts
// as zeros.
struct GroupTile {
  std::int32_t dim = 0;
  std::int32_t num_pairs = 0;
  float scale = 0;
  TilePair pairs[kMostTilePairs] = {};
  const std::uint16_t* k[kGroupKeys] = {};  // bf16 [dim] each
  const std::uint16_t* v[kGroupKeys] = {};
};

// One (row, query head) over its groups [first, end); group g's state lies g strides in.
struct MergeRow {
  std::int32_t dim = 0;
  std::int32_t first = 0;
  std::int32_t end = 0;
  std::int32_t batch = 1;  // groups whose factors are found before their values are folded, 1..8
  const float* m = nullptr;
  const float* l = nullptr;
  const float* o = nullptr;
  std::int64_t state_stride = 0;  // of m and l; of o it is dim times as much
  std::uint16_t* out = nullptr;   // bf16 [dim]
  float* result = nullptr;        // [dim]
};

// A tensor-core step of two rows and eight columns.
struct StepBlock {
  float acc[2][8];
  std::uint16_t a[2][16];
  std::uint16_t b[8][16];
};

using AttendKernel = void (*)(const GroupTile& tile);
using MergeKernel = void (*)(const MergeRow& row);
using StepKernel = void (*)(StepBlock* block);

// Null where there is no such kernel: a mutation exists in the stage that it names, and in the
// tensor-core family only.
namespace portable {
AttendKernel attend_kernel(Family family, EngineMutation mutation);
MergeKernel merge_kernel(EngineMutation mutation);
StepKernel step_kernel();
}  // namespace portable

// Null too where the compiler has no such instructions.
namespace avx2 {
bool is_available();
AttendKernel attend_kernel(Family family, EngineMutation mutation);
MergeKernel merge_kernel(EngineMutation mutation);
StepKernel step_kernel();
}  // namespace avx2

}  // namespace assay::kernels::attention
