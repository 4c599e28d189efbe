// What a workload asks for: the shape, and where each stream's context lies in its buffers.
#pragma once

#include "kernels/block_attention/contract.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace assay::kernels::block_attention {

inline constexpr std::int64_t kMostContextElements = std::int64_t{1} << 33;
inline constexpr std::int64_t kMostPartialElements = std::int64_t{1} << 30;

// In the order of the axes' choices.
enum class DataKind : std::uint8_t {
  kNormal,
  kZeroQk,
  kOneHotV,
  kPlanted,
  kLargeLogits,
  kConstantLogits,
  kCancelling,
  kTiny,
};

enum class Filling : std::uint8_t { kNan, kInf, kRandom };

struct Stream {
  std::int32_t number = 0;    // decides its length and values
  std::int32_t context = 0;   // keys
  std::int64_t k_offset = 0;  // elements
  std::int64_t v_offset = 0;
  std::int64_t head_stride = 0;  // context and slack, in elements
};

struct BlockPlan {
  Shape shape;
  std::vector<Stream> streams;  // in the call's order
  DataKind data = DataKind::kNormal;
  Filling unread = Filling::kNan;
  std::int64_t base_offset = 0;
  std::int64_t num_context_elements = 0;  // of kKContext, and of kVContext
  std::uint64_t seed = 0;
};

// INVALID_ARGUMENT names the axis.
absl::StatusOr<BlockPlan> parse_plan(const Workload& workload);

}  // namespace assay::kernels::block_attention
