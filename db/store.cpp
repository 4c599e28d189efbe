#include "db/store.h"

#include "db/migrations.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <filesystem>
#include <system_error>

namespace assay::db {
namespace {

// Two names of one file must find one lock.
absl::StatusOr<std::string> resolve(const std::string& path) {
  if (path.empty() || path == ":memory:") {
    return absl::InvalidArgumentError("path: must name a file");
  }
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  if (error) {
    return absl::PermissionDeniedError(error.message());
  }
  if (std::filesystem::exists(resolved, error) &&
      !std::filesystem::is_regular_file(resolved, error)) {
    return absl::FailedPreconditionError("not a regular file");
  }
  return resolved.string();
}

absl::Status use_write_ahead_log(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(Statement mode, connection.prepare("PRAGMA journal_mode = WAL"));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, mode.step());
  if (!has_row || mode.text(0) != "wal") {
    return absl::FailedPreconditionError("its file system cannot hold a write-ahead log");
  }
  // The writer empties the log when it is idle; 8,192 pages are the limit when it never is.
  return connection.execute(
      "PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8192;"
      "PRAGMA journal_size_limit = 16777216;");
}

absl::StatusOr<std::unique_ptr<Store>> open_file(const std::string& path,
                                                 std::int64_t read_deadline_ns) {
  ASSAY_ASSIGN_OR_RETURN(FileLock lock, FileLock::acquire(path));
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection,
                         Connection::open(path, Connection::Mode::kWrite));
  if (connection->is_read_only()) {
    return absl::PermissionDeniedError("the file cannot be written");
  }
  ASSAY_RETURN_IF_ERROR(migrate(*connection));
  ASSAY_RETURN_IF_ERROR(use_write_ahead_log(*connection));
  return std::make_unique<SqliteStore>(
      std::move(lock), std::move(connection), path, read_deadline_ns);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::open(const StoreOptions& options) {
  const std::string context = absl::StrCat("database `", options.path, "`");
  absl::StatusOr<std::string> path = resolve(options.path);
  if (!path.ok()) {
    return proto::annotate(path.status(), context);
  }
  absl::StatusOr<std::unique_ptr<Store>> store = open_file(*path, options.read_deadline_ns);
  if (!store.ok()) {
    return proto::annotate(store.status(), context);
  }
  return store;
}

}  // namespace assay::db
