#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

namespace assay::db {

absl::Status SqliteStore::add_blob(const std::string& digest,
                                   const std::string& bytes,
                                   std::int64_t now_ns) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(
        Statement insert,
        connection.prepare("INSERT INTO t_blob (digest, num_bytes, uploaded_ns, data)"
                           " VALUES (?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"));
    insert.bind_all(digest, bytes.size(), now_ns);
    insert.bind_bytes(4, bytes);
    return insert.run();
  });
}

absl::StatusOr<std::string> SqliteStore::blob(const std::string& digest) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::string> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows,
                           connection.prepare("SELECT data FROM t_blob WHERE digest = ?"));
    rows.bind_all(digest);
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    return has_row
               ? absl::StatusOr<std::string>(std::string(rows.bytes(0)))
               : absl::NotFoundError(absl::StrCat("digest: nothing is uploaded as `", digest, "`"));
  });
}

absl::StatusOr<bool> SqliteStore::has_blob(const std::string& digest) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<bool> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows,
                           connection.prepare("SELECT 1 FROM t_blob WHERE digest = ?"));
    rows.bind_all(digest);
    return rows.step();
  });
}

}  // namespace assay::db
