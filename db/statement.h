// A prepared statement on loan from a Connection: bind, step, read; its end resets it. Parameters
// count from 1 and columns from 0, as in SQLite. A failed bind is reported by the next step.
#pragma once

#include "db/connection.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace assay::db {

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view value);
  void bind_null(int parameter);
  // A BLOB; `bytes` must live until the statement has run.
  void bind_bytes(int parameter, std::string_view bytes);

  // Parameters 1, 2, ... in one call.
  template <typename... Values>
  void bind_all(const Values&... values) {
    int parameter = 0;
    (bind_any(++parameter, values), ...);
  }

  // True: there is a row.
  absl::StatusOr<bool> step();

  // Steps to the end and makes it ready to be bound again.
  absl::Status run();

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  // Valid until the next step.
  std::string_view text(int column) const;
  std::string_view bytes(int column) const;

 private:
  friend class Connection;

  Statement(Connection* connection, const std::string* sql, sqlite3_stmt* statement)
      : connection_(connection), sql_(sql), statement_(statement) {}

  void bind_any(int parameter, std::string_view value) { bind(parameter, value); }

  void bind_any(int parameter, const std::string& value) { bind(parameter, value); }

  void bind_any(int parameter, const char* value) { bind(parameter, std::string_view(value)); }

  void bind_any(int parameter, double value) { bind(parameter, value); }

  template <typename Integer>
  void bind_any(int parameter, Integer value) {
    bind(parameter, static_cast<std::int64_t>(value));
  }

  void note(int code);

  Connection* connection_;
  const std::string* sql_;
  sqlite3_stmt* statement_;
  int bind_code_ = 0;
};

}  // namespace assay::db
