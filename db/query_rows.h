// Rows of a query on their way out: gathered into chunks, counted against the limits of the whole.
#pragma once

#include "db/query.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>

struct sqlite3_stmt;

namespace assay::db {

inline constexpr std::size_t kQueryChunkBytes = std::size_t{256} << 10;  // then it is sent
inline constexpr std::size_t kMaxQueryRowBytes = std::size_t{2} << 20;
inline constexpr std::size_t kMaxQueryResultBytes = std::size_t{64} << 20;

class QueryRows {
 public:
  // Both outlive this.
  QueryRows(sqlite3_stmt* statement, const QueryCaller& caller, std::uint32_t max_rows);

  // The row at which the statement stands. False: a limit is reached, and nothing more is wanted.
  absl::StatusOr<bool> add();

  // The last chunk.
  absl::Status finish();

 private:
  absl::Status send();

  sqlite3_stmt* const statement_;
  const QueryCaller& caller_;
  const std::uint32_t max_rows_;
  v1::QueryChunk chunk_;
  std::size_t chunk_bytes_ = 0;
  std::size_t num_bytes_ = 0;
  std::uint32_t num_rows_ = 0;
};

}  // namespace assay::db
