// The cpu kernels of one instruction set, as plain functions: what a launcher calls for each task.
// Everything behind these tables is compiled for that set and shares no function with the rest.
#pragma once

#include "kernels/qsa_decode/contract.h"
#include "kernels/qsa_decode/mutation.h"

#include <cstdint>

namespace assay::kernels::qsa_decode {

// Chunks [first, end) of one query and KV head.
struct ChunkTask {
  std::int32_t query = 0;
  std::int32_t kv_head = 0;
  std::int32_t first = 0;
  std::int32_t end = 0;
};

// One head's output of one query.
struct MergeTask {
  std::int32_t query = 0;
  std::int32_t head = 0;
  std::int32_t batch = 1;  // chunks whose weights are found before they are folded
};

using ChunkKernel = void (*)(const Params& params, const ChunkTask& task);
using MergeKernel = void (*)(const Params& params, const MergeTask& task);

enum class ChunkForm : std::uint8_t { kOneCell, kTwoCell, kLaneCell, kHwExp };
enum class MergeForm : std::uint8_t { kAllChunks, kBounded };

struct KernelChoice {
  ChunkForm form = ChunkForm::kOneCell;
  KvFormat kv = KvFormat::kFp16;
  std::int32_t cells_per_step = 1;  // 1, 2, 4 or 8
  Mutation mutation = Mutation::kNone;
};

struct MergeChoice {
  MergeForm form = MergeForm::kAllChunks;
  bool hw_exp = false;
  Mutation mutation = Mutation::kNone;
};

// Null where there is no such kernel: a mutation exists in one form and format only.
namespace portable {
ChunkKernel chunk_kernel(const KernelChoice& choice);
MergeKernel merge_kernel(const MergeChoice& choice);
}  // namespace portable

namespace avx2 {
bool is_available();
ChunkKernel chunk_kernel(const KernelChoice& choice);
MergeKernel merge_kernel(const MergeChoice& choice);
}  // namespace avx2

}  // namespace assay::kernels::qsa_decode
