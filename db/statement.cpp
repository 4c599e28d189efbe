#include "db/statement.h"

#include "proto/status.h"

#include "sqlite3.h"

namespace assay::db {

Statement::Statement(Statement&& other) noexcept
    : connection_(other.connection_),
      sql_(other.sql_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_code_(other.bind_code_) {}

Statement::~Statement() {
  if (statement_ != nullptr) {
    connection_->give_back(sql_, Connection::Handle(statement_));
  }
}

void Statement::note(int code) {
  if (code != SQLITE_OK && bind_code_ == SQLITE_OK) {
    bind_code_ = code;
  }
}

void Statement::bind(int parameter, std::int64_t value) {
  note(sqlite3_bind_int64(statement_, parameter, value));
}

void Statement::bind(int parameter, double value) {
  note(sqlite3_bind_double(statement_, parameter, value));
}

void Statement::bind(int parameter, std::string_view value) {
  note(sqlite3_bind_text64(
      statement_, parameter, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_null(int parameter) {
  note(sqlite3_bind_null(statement_, parameter));
}

void Statement::bind_bytes(int parameter, std::string_view bytes) {
  note(sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
}

absl::StatusOr<bool> Statement::step() {
  if (bind_code_ != SQLITE_OK) {
    return connection_->error(bind_code_, *sql_);
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW || code == SQLITE_DONE) {
    return code == SQLITE_ROW;
  }
  return connection_->error(code, *sql_);
}

absl::Status Statement::run() {
  absl::StatusOr<bool> has_row = step();
  while (has_row.ok() && *has_row) {
    has_row = step();
  }
  sqlite3_reset(statement_);
  return has_row.status();
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string_view Statement::text(int column) const {
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, length);
}

std::string_view Statement::bytes(int column) const {
  const auto* const data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return data == nullptr ? std::string_view() : std::string_view(data, length);
}

}  // namespace assay::db
