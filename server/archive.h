// Whole experiments on their way from one database to another, and copies of a database. What is
// received is stored experiment by experiment, each whole or not at all.
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

inline constexpr std::uint32_t kArchiveVersion = 1;
// What one experiment, or one blob, may hold in memory while it is received.
inline constexpr std::int64_t kMaxArchivedBytes = std::int64_t{1} << 30;
inline constexpr std::size_t kArchivePieceBytes = std::size_t{1} << 20;  // of a blob
inline constexpr std::int64_t kBackupChunkBytes = std::int64_t{1} << 20;

// Methods may be called from any thread.
class Archive {
 public:
  Archive(db::Store& store, std::function<std::int64_t()> now_ns);

  // False: the reader went away.
  using Write = std::function<bool(const v1::ArchiveEntry& entry)>;
  // The next entry; false after the last.
  using Next = std::function<bool(v1::ArchiveEntry& entry)>;
  using WriteChunk = std::function<bool(const v1::BackupChunk& chunk)>;

  // Named experiments must be in a final state (FAILED_PRECONDITION names the first that is not);
  // of a filter those are taken that are. CANCELLED: the reader went away. RESOURCE_EXHAUSTED: a
  // configuration is larger than a message may be.
  absl::Status send(const v1::ExportRequest& request,
                    std::int64_t max_message_bytes,
                    const Write& write) const;

  // INVALID_ARGUMENT: no archive, or entries in another order, by what is wrong. DATA_LOSS: it ends
  // before its end, or a blob is not what its digest says. What came before is stored, and left
  // alone when it comes again. One archive is received at a time.
  absl::StatusOr<v1::ImportArchiveResponse> receive(const Next& next);

  // Through a file beside the database, which is gone afterwards. One copy is made at a time.
  absl::Status back_up(const WriteChunk& write);

  // INVALID_ARGUMENT names the field.
  absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest& request);

 private:
  absl::Status send_one(std::int64_t experiment_id,
                        std::int64_t max_message_bytes,
                        const Write& write) const;

  db::Store& store_;
  const std::function<std::int64_t()> now_ns_;
  std::atomic_flag is_receiving_;
  std::atomic_flag is_copying_;
};

}  // namespace assay::server
