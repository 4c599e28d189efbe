// One SELECT of a person over the documented views. It runs on a connection of its own that cannot
// write, in a heap of its own, and is cut off at its deadline: writers never wait for it, and the
// write-ahead log can shrink once it has ended. Rows are handed on as they are found.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"

#include <cstdint>
#include <functional>
#include <string>

namespace assay::db {

inline constexpr std::uint32_t kDefaultQueryRows = 10'000;
inline constexpr std::uint32_t kMaxQueryRows = 1'000'000;
inline constexpr std::int64_t kDefaultQueryDeadlineNs = 10'000'000'000;
inline constexpr std::int64_t kMaxQueryDeadlineNs = 60'000'000'000;
inline constexpr std::int64_t kMaxQueryHeapBytes = std::int64_t{256} << 20;

struct QueryCaller {
  std::function<bool()> has_left;
  // False: the caller has left.
  std::function<bool(const v1::QueryChunk&)> write;
};

// INVALID_ARGUMENT: sql is no single SELECT over the views, names what is not offered, or fails for
// what it computes. RESOURCE_EXHAUSTED names the limit that one value, one row or the heap is past.
// DEADLINE_EXCEEDED; CANCELLED: the caller has left.
absl::Status run_query(const std::string& path,
                       const v1::QueryRequest& request,
                       const QueryCaller& caller);

}  // namespace assay::db
