#include "db/connection.h"

#include "db/heap_budget.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "sqlite3.h"

#include <cerrno>
#include <chrono>
#include <utility>

namespace assay::db {
namespace {

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The system's own error behind a failed read or write. SQLite keeps it with the file: the database
// or its log.
int system_errno_of(sqlite3* database, int code) {
  if (database == nullptr) {
    return 0;
  }
  if (const int error = sqlite3_system_errno(database);
      error != 0 || (code & 0xff) != SQLITE_IOERR) {
    return error;
  }
  int error = 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  if (error == 0) {
    sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &error);
  }
  return error;
}

bool is_out_of_space(int code, int system_errno) {
  const bool io = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
  return (code & 0xff) == SQLITE_FULL ||
         (io && (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG));
}

absl::StatusCode code_of(int code, int system_errno) {
  if (is_out_of_space(code, system_errno)) {
    return absl::StatusCode::kResourceExhausted;
  }
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_INTERRUPT:
      return absl::StatusCode::kDeadlineExceeded;
    case SQLITE_NOTADB:
      return absl::StatusCode::kFailedPrecondition;
    case SQLITE_CORRUPT:
      return absl::StatusCode::kDataLoss;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return system_errno == ENOENT ? absl::StatusCode::kNotFound
                                    : absl::StatusCode::kPermissionDenied;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
      return absl::StatusCode::kInvalidArgument;
    default:
      return absl::StatusCode::kInternal;
  }
}

// What a person reads for the codes whose own text misleads.
std::string words_of(absl::StatusCode code, std::string_view message) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
      return "database is busy: another program keeps its write lock";
    case absl::StatusCode::kDeadlineExceeded:
      return "database read was still running at its deadline";
    case absl::StatusCode::kFailedPrecondition:
      return absl::StrCat("not an assay database (", std::string(message), ")");
    case absl::StatusCode::kResourceExhausted:
      return absl::StrCat("no space left for the database (", std::string(message), ")");
    default:
      return std::string(message);
  }
}

}  // namespace

void Connection::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close_v2(database);
}

void Connection::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Connection::~Connection() = default;

absl::StatusOr<std::unique_ptr<Connection>> Connection::open(const std::string& path,
                                                             Mode mode,
                                                             int busy_timeout_ms) {
  auto connection = std::unique_ptr<Connection>(new Connection);
  if (const int code = HeapBudget::install(); code != SQLITE_OK) {
    return connection->error(code, "sqlite3_config");
  }
  const int flags =
      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
      (mode == Mode::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  connection->database_.reset(database);
  if (code != SQLITE_OK) {
    return connection->error(code, "sqlite3_open_v2");
  }
  sqlite3_busy_timeout(database, busy_timeout_ms);
  constexpr int kStepsBetweenLooks = 1'000;
  connection->look_every(kStepsBetweenLooks);
  ASSAY_RETURN_IF_ERROR(connection->execute("PRAGMA foreign_keys = ON"));
  return connection;
}

void Connection::look_every(int num_steps) {
  sqlite3_progress_handler(database_.get(), num_steps, &on_progress, this);
}

bool Connection::is_over() const {
  const bool is_late = deadline_ns_ != 0 && steady_now_ns() > deadline_ns_;
  return is_late || (stop_ && stop_());
}

int Connection::on_progress(void* connection) {
  return static_cast<const Connection*>(connection)->is_over() ? 1 : 0;
}

absl::Status Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? absl::OkStatus() : error(code, sql);
}

absl::StatusOr<Statement> Connection::prepare(const std::string& sql) {
  const auto entry = idle_.try_emplace(sql).first;
  if (!entry->second.empty()) {
    Handle handle = std::move(entry->second.back());
    entry->second.pop_back();
    return Statement(this, &entry->first, handle.release());
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(),
                                      sql.c_str(),
                                      static_cast<int>(sql.size()) + 1,
                                      SQLITE_PREPARE_PERSISTENT,
                                      &statement,
                                      nullptr);
  if (code != SQLITE_OK) {
    return error(code, sql);
  }
  return Statement(this, &entry->first, statement);
}

void Connection::give_back(const std::string* sql, Handle handle) {
  sqlite3_reset(handle.get());
  sqlite3_clear_bindings(handle.get());
  idle_.find(*sql)->second.push_back(std::move(handle));
}

absl::StatusOr<std::int64_t> Connection::integer(const std::string& sql) {
  ASSAY_ASSIGN_OR_RETURN(Statement statement, prepare(sql));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, statement.step());
  return has_row ? statement.integer(0) : 0;
}

absl::Status Connection::copy_to(const std::string& path) const {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> copy, open(path, Mode::kWrite));
  sqlite3_backup* const backup =
      sqlite3_backup_init(copy->database_.get(), "main", database_.get(), "main");
  if (backup == nullptr) {
    return copy->error(sqlite3_errcode(copy->database_.get()), "sqlite3_backup_init");
  }
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  return code == SQLITE_OK ? absl::OkStatus() : copy->error(code, "sqlite3_backup_step");
}

std::int64_t Connection::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(database_.get());
}

std::int64_t Connection::num_changes() const {
  return sqlite3_changes64(database_.get());
}

bool Connection::in_transaction() const {
  return sqlite3_get_autocommit(database_.get()) == 0;
}

bool Connection::is_read_only() const {
  return sqlite3_db_readonly(database_.get(), "main") == 1;
}

absl::Status Connection::error(int code, std::string_view call) const {
  const int system_errno = system_errno_of(database_.get(), code);
  const absl::StatusCode status = code_of(code, system_errno);
  const std::string message = database_ ? sqlite3_errmsg(database_.get()) : sqlite3_errstr(code);
  constexpr std::size_t kShownBytes = 60;
  return {status,
          absl::StrCat(words_of(status, message),
                       " [sqlite ",
                       code,
                       " in ",
                       std::string(call.substr(0, kShownBytes)),
                       "]")};
}

}  // namespace assay::db
