#include "db/query_rows.h"

#include "db/json.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "sqlite3.h"

#include <string_view>
#include <utility>

namespace assay::db {
namespace {

constexpr std::size_t kValueBytes = 16;  // about what a value takes beside its text

std::string_view bytes_of(sqlite3_stmt* statement, int column, const void* data) {
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), size);
}

// Text that is none, of a CAST, goes as the bytes that it is.
v1::QueryValue value_of(sqlite3_stmt* statement, int column) {
  v1::QueryValue value;
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      value.set_integer(sqlite3_column_int64(statement, column));
      break;
    case SQLITE_FLOAT:
      value.set_real(sqlite3_column_double(statement, column));
      break;
    case SQLITE_TEXT: {
      const std::string_view text =
          bytes_of(statement, column, sqlite3_column_text(statement, column));
      is_utf8(text) ? value.set_text(text.data(), text.size())
                    : value.set_blob(text.data(), text.size());
      break;
    }
    case SQLITE_BLOB: {
      const std::string_view blob =
          bytes_of(statement, column, sqlite3_column_blob(statement, column));
      value.set_blob(blob.data(), blob.size());
      break;
    }
    default:
      break;
  }
  return value;
}

}  // namespace

QueryRows::QueryRows(sqlite3_stmt* statement, const QueryCaller& caller, std::uint32_t max_rows)
    : statement_(statement), caller_(caller), max_rows_(max_rows) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    chunk_.add_columns(sqlite3_column_name(statement, i));
  }
}

absl::StatusOr<bool> QueryRows::add() {
  if (num_rows_ == max_rows_) {
    chunk_.set_truncated(absl::StrCat(proto::with_commas(max_rows_), " rows"));
    return false;
  }
  std::size_t row_bytes = 0;
  for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
    row_bytes += kValueBytes;
    if (const int type = sqlite3_column_type(statement_, i);
        type == SQLITE_TEXT || type == SQLITE_BLOB) {
      row_bytes += static_cast<std::size_t>(sqlite3_column_bytes(statement_, i));
    }
  }
  if (row_bytes > kMaxQueryRowBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("sql: row ",
                     proto::with_commas(num_rows_ + 1),
                     " has ",
                     proto::with_commas(static_cast<std::int64_t>(row_bytes)),
                     " bytes, the limit is ",
                     proto::with_commas(kMaxQueryRowBytes),
                     ": select fewer columns, or a part of a text by substr"));
  }
  if (num_bytes_ + row_bytes > kMaxQueryResultBytes) {
    chunk_.set_truncated(absl::StrCat(proto::with_commas(kMaxQueryResultBytes), " bytes"));
    return false;
  }
  v1::QueryRow& row = *chunk_.add_rows();
  for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
    *row.add_values() = value_of(statement_, i);
  }
  ++num_rows_;
  num_bytes_ += row_bytes;
  chunk_bytes_ += row_bytes;
  if (chunk_bytes_ >= kQueryChunkBytes) {
    ASSAY_RETURN_IF_ERROR(send());
  }
  return true;
}

absl::Status QueryRows::send() {
  if (!caller_.write(chunk_)) {
    return absl::CancelledError("the client went away");
  }
  chunk_.Clear();
  chunk_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status QueryRows::finish() {
  return send();
}

}  // namespace assay::db
