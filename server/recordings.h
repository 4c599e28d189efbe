// What other tools measured, sent by clients and kept as it is.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace assay::server {

inline constexpr std::int64_t kMaxRecordedRows = 1'000'000;
inline constexpr std::int64_t kMaxRecordedBytes = std::int64_t{256} << 20;  // of all chunks
inline constexpr std::int64_t kMaxRecordedChunkBytes = std::int64_t{1} << 20;

// Methods may be called from any thread. One import is received at a time, which bounds what they
// hold in memory together.
class Recordings {
 public:
  Recordings(db::Store& store, std::function<std::int64_t()> now_ns);

  // The next chunk; false after the last.
  using NextChunk = std::function<bool(v1::ImportChunk& chunk)>;

  // Stores all or nothing, and gives what was stored. Rows are numbered in their order.
  // INVALID_ARGUMENT names the field; RESOURCE_EXHAUSTED names limit and size, or that another
  // import is being received.
  absl::StatusOr<v1::Recording> receive(const NextChunk& next);

  absl::StatusOr<v1::ListRecordingsResponse> list() const;

  // A page of at most max_bytes: shorter than asked for where its rows are large. NOT_FOUND names
  // the id; RESOURCE_EXHAUSTED: one row alone is larger.
  absl::StatusOr<v1::GetRecordingResponse> get(v1::GetRecordingRequest request,
                                               std::size_t max_bytes) const;

 private:
  db::Store& store_;
  const std::function<std::int64_t()> now_ns_;
  std::atomic_flag is_receiving_;
};

}  // namespace assay::server
