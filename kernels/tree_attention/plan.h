// What a workload's axes ask for: the streams of the whole problem, and the part of them that the
// view makes. Keys and rows keep their identity (stream and place in the whole problem) in every
// view, and their bytes follow from it.
#pragma once

#include "kernels/tree_attention/contract.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace assay::kernels::tree_attention {

enum class DataKind : std::uint8_t {  // in the order of the axis
  kNormal,
  kZeroQk,
  kOneHotV,
  kPlanted,
  kLargeLogits,
  kConstantLogits,
  kCancelling,
  kTiny,
};

enum class Unread : std::uint8_t { kNan, kInf, kRandom };

// A stream of the whole problem.
struct Stream {
  std::int32_t committed = 0;
  std::vector<std::int32_t> parents;  // of its rows, -1 at a root
};

// A stream of the call. Its cache holds the whole stream's committed keys, then `accepted`.
struct StreamView {
  std::int32_t stream = 0;             // in Plan::whole
  std::vector<std::int32_t> accepted;  // rows of the whole stream, in path order
  std::vector<std::int32_t> rows;      // rows of the whole stream that the call makes
  std::vector<std::int32_t> parents;   // of these, local to this view
};

struct Plan {
  std::uint64_t seed = 0;
  std::int32_t num_heads = 0;
  std::int32_t num_kv_heads = 0;
  std::int32_t dim = 0;
  std::int64_t slack = 0;
  std::int64_t base_offset = 0;
  std::int64_t plan_keys = 0;
  DataKind data = DataKind::kNormal;
  Unread unread = Unread::kNan;
  std::vector<Stream> whole;
  std::vector<StreamView> streams;  // of the call, in its order

  // Keys in the cache of a stream of the call.
  std::int32_t committed_of(const StreamView& view) const {
    return whole[static_cast<std::size_t>(view.stream)].committed +
           static_cast<std::int32_t>(view.accepted.size());
  }
};

// Rows of all streams of a call.
inline constexpr std::int64_t kMostRows = 16'384;

// INVALID_ARGUMENT names the axis.
absl::StatusOr<Plan> parse_plan(const Workload& workload);

}  // namespace assay::kernels::tree_attention
