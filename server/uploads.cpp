#include "server/uploads.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/field_errors.h"
#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"

#include <string>
#include <utility>

namespace assay::server {
namespace {

std::string bytes_text(std::int64_t num_bytes) {
  return absl::StrCat(proto::with_commas(num_bytes), " bytes");
}

absl::Status check_digest(const std::string& path, const std::string& digest) {
  return tuning::is_content_digest(digest)
             ? absl::OkStatus()
             : refuse(path, absl::StrCat("`", digest, "` is not 32 lower-case hexadecimal digits"));
}

}  // namespace

// What one upload may hold in memory while it is in work.
class Uploads::Room {
 public:
  static absl::StatusOr<Room> take(Uploads& uploads, std::int64_t num_bytes) {
    // A room that is moved from takes the lock too.
    std::unique_lock lock(uploads.mutex_);
    const std::int64_t limit = kUploadsInWork * uploads.max_bytes_;
    if (uploads.in_work_bytes_ + num_bytes > limit) {
      return absl::ResourceExhaustedError(absl::StrCat("num_bytes: ",
                                                       bytes_text(num_bytes),
                                                       " beside ",
                                                       bytes_text(uploads.in_work_bytes_),
                                                       " of uploads in work, the limit is ",
                                                       bytes_text(limit),
                                                       ": try again later"));
    }
    uploads.in_work_bytes_ += num_bytes;
    lock.unlock();
    return Room(uploads, num_bytes);
  }

  Room(Room&& other) noexcept
      : uploads_(other.uploads_), num_bytes_(std::exchange(other.num_bytes_, 0)) {}

  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  Room& operator=(Room&&) = delete;

  ~Room() {
    const std::lock_guard lock(uploads_.mutex_);
    uploads_.in_work_bytes_ -= num_bytes_;
  }

 private:
  Room(Uploads& uploads, std::int64_t num_bytes) : uploads_(uploads), num_bytes_(num_bytes) {}

  Uploads& uploads_;
  std::int64_t num_bytes_;
};

absl::Status Uploads::check_first(const v1::UploadChunk& chunk) const {
  ASSAY_RETURN_IF_ERROR(check_digest("digest", chunk.digest()));
  if (chunk.num_bytes() < 0) {
    return refuse("num_bytes", "must not be negative");
  }
  if (chunk.num_bytes() > max_bytes_) {
    return absl::ResourceExhaustedError(absl::StrCat("num_bytes: ",
                                                     bytes_text(chunk.num_bytes()),
                                                     ", the limit is ",
                                                     bytes_text(max_bytes_),
                                                     " (assayd --max-upload-bytes)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::UploadResponse> Uploads::receive(const Next& next) {
  v1::UploadChunk chunk;
  if (!next(chunk)) {
    return refuse("digest", "there is no first chunk");
  }
  ASSAY_RETURN_IF_ERROR(check_first(chunk));
  const std::string digest = chunk.digest();
  const std::int64_t num_bytes = chunk.num_bytes();
  ASSAY_ASSIGN_OR_RETURN(const Room room, Room::take(*this, num_bytes));
  std::string bytes;
  do {
    if (chunk.data().size() > kMaxChunkBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("data: ",
                       bytes_text(static_cast<std::int64_t>(chunk.data().size())),
                       " in a chunk, the limit is ",
                       bytes_text(kMaxChunkBytes)));
    }
    bytes.append(chunk.data());
    if (static_cast<std::int64_t>(bytes.size()) > num_bytes) {
      return refuse("data", absl::StrCat("goes on behind num_bytes, ", bytes_text(num_bytes)));
    }
    chunk.Clear();
  } while (next(chunk));
  if (static_cast<std::int64_t>(bytes.size()) < num_bytes) {
    return refuse("data",
                  absl::StrCat("ends after ",
                               bytes_text(static_cast<std::int64_t>(bytes.size())),
                               " of ",
                               bytes_text(num_bytes)));
  }
  if (tuning::content_digest(bytes) != digest) {
    return absl::DataLossError(
        absl::StrCat("data: its digest is ", tuning::content_digest(bytes), ", not ", digest));
  }
  ASSAY_RETURN_IF_ERROR(store_.add_blob(digest, bytes, now_ns_()));
  v1::UploadResponse response;
  response.set_digest(digest);
  return response;
}

absl::StatusOr<v1::FindBlobsResponse> Uploads::find(const v1::FindBlobsRequest& request) const {
  if (request.digests_size() > kMaxDigests) {
    return absl::ResourceExhaustedError(absl::StrCat("digests: ",
                                                     proto::with_commas(request.digests_size()),
                                                     ", the limit is ",
                                                     proto::with_commas(kMaxDigests)));
  }
  v1::FindBlobsResponse response;
  for (int i = 0; i < request.digests_size(); ++i) {
    const std::string& digest = request.digests(i);
    ASSAY_RETURN_IF_ERROR(check_digest(absl::StrCat("digests[", i, "]"), digest));
    ASSAY_ASSIGN_OR_RETURN(const bool is_here, store_.has_blob(digest));
    if (!is_here) {
      response.add_missing(digest);
    }
  }
  return response;
}

}  // namespace assay::server
