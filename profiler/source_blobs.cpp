#include "profiler/source_blobs.h"

#include "proto/status.h"
#include "proto/text.h"
#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"

#include <span>
#include <string_view>

namespace assay::profiler {

absl::Status SourceBlobs::add(const v1::RunnerBlob& piece) {
  if (!tuning::is_content_digest(piece.digest())) {
    return absl::InvalidArgumentError("blob.digest: must be 32 lower-case hexadecimal digits");
  }
  absl::Status status = add_to(piece, parts_[piece.digest()]);
  if (!status.ok()) {
    parts_.erase(piece.digest());
  }
  return status;
}

absl::Status SourceBlobs::add_to(const v1::RunnerBlob& piece, Part& part) {
  const auto size = static_cast<std::int64_t>(piece.data().size());
  if (part.bytes == nullptr || static_cast<std::int64_t>(part.bytes->size()) == part.num_bytes) {
    // A whole one is sent again from the start.
    part = {.bytes = std::make_shared<std::vector<std::byte>>(), .num_bytes = piece.num_bytes()};
  }
  const std::int64_t others = num_bytes_of_others(piece.digest());
  if (piece.num_bytes() > kMostBlobBytes - others) {
    return absl::ResourceExhaustedError(absl::StrCat("blob.num_bytes: data of ",
                                                     proto::with_commas(others + piece.num_bytes()),
                                                     " bytes is over the limit of ",
                                                     proto::with_commas(kMostBlobBytes)));
  }
  const auto so_far = static_cast<std::int64_t>(part.bytes->size());
  if (piece.num_bytes() != part.num_bytes || size > part.num_bytes - so_far) {
    return absl::InvalidArgumentError(
        absl::StrCat("blob.data: more than the ", part.num_bytes, " bytes that were announced"));
  }
  const auto bytes = std::as_bytes(std::span(piece.data()));
  part.bytes->insert(part.bytes->end(), bytes.begin(), bytes.end());
  if (so_far + size < part.num_bytes) {
    return absl::OkStatus();
  }
  const std::string_view all(reinterpret_cast<const char*>(part.bytes->data()), part.bytes->size());
  return tuning::content_digest(all) == piece.digest()
             ? absl::OkStatus()
             : absl::InvalidArgumentError("blob.digest: the data has another digest");
}

std::int64_t SourceBlobs::num_bytes_of_others(const std::string& digest) const {
  std::int64_t num_bytes = 0;
  for (const auto& [name, part] : parts_) {
    num_bytes += name == digest ? 0 : part.num_bytes;
  }
  return num_bytes;
}

Blob SourceBlobs::find(const std::string& digest) const {
  const auto found = parts_.find(digest);
  const bool is_whole =
      found != parts_.end() && found->second.bytes != nullptr &&
      static_cast<std::int64_t>(found->second.bytes->size()) == found->second.num_bytes;
  return is_whole ? found->second.bytes : nullptr;
}

}  // namespace assay::profiler
