// Puts an archive together again, entry by entry: an experiment is stored when the next one begins.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::server {

class ArchiveReader {
 public:
  // INVALID_ARGUMENT: the entry is no header of a version that is known here.
  static absl::Status check_header(const v1::ArchiveEntry& entry);

  ArchiveReader(db::Store& store, const v1::ArchiveHeader& header, std::int64_t now_ns)
      : store_(store), header_(header), now_ns_(now_ns) {}

  // Takes what it needs out of the entry. Errors are those of Archive::receive.
  absl::Status add(v1::ArchiveEntry& entry);

  absl::StatusOr<v1::ImportArchiveResponse> end();

 private:
  absl::Status add_blob(v1::ArchiveBlob& blob);
  absl::Status add_configuration(v1::Configuration& configuration);
  absl::Status store_last();

  db::Store& store_;
  const v1::ArchiveHeader header_;
  const std::int64_t now_ns_;
  v1::ImportArchiveResponse response_;
  v1::Experiment experiment_;
  v1::ArchiveBlob blob_;
  bool has_open_blob_ = false;
  std::int64_t num_bytes_ = 0;
  std::uint32_t num_experiments_ = 0;
};

}  // namespace assay::server
