// Bytes that clients keep here by their digest: specifications of sources and the data of their
// tensors. Nothing is stored before all of it is there and its digest is right. Every method may be
// called from any thread.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace assay::server {

inline constexpr std::int64_t kDefaultMaxUploadBytes = std::int64_t{256} << 20;
// The store keeps a blob in one field, which has room for this.
inline constexpr std::int64_t kMostUploadBytes = std::int64_t{512} << 20;
inline constexpr std::size_t kMaxChunkBytes = std::size_t{1} << 20;
inline constexpr int kMaxDigests = 10'000;
// Uploads in work hold together so many of the largest.
inline constexpr std::int64_t kUploadsInWork = 4;

class Uploads {
 public:
  // Gives the next chunk, false after the last.
  using Next = std::function<bool(v1::UploadChunk&)>;

  Uploads(db::Store& store, std::int64_t max_bytes, std::function<std::int64_t()> now_ns)
      : store_(store), max_bytes_(max_bytes), now_ns_(std::move(now_ns)) {}

  // INVALID_ARGUMENT names the field; RESOURCE_EXHAUSTED limit and size; DATA_LOSS: the bytes are
  // not those of the digest.
  absl::StatusOr<v1::UploadResponse> receive(const Next& next);

  absl::StatusOr<v1::FindBlobsResponse> find(const v1::FindBlobsRequest& request) const;

 private:
  class Room;

  absl::Status check_first(const v1::UploadChunk& chunk) const;

  db::Store& store_;
  const std::int64_t max_bytes_;
  const std::function<std::int64_t()> now_ns_;
  std::mutex mutex_;
  std::int64_t in_work_bytes_ = 0;
};

}  // namespace assay::server
