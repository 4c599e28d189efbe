// One SQLite connection, and the only owner of a sqlite3*. A connection belongs to one
// thread at a time; statements are borrowed from its cache and end before it. SQLite's codes become
// absl codes here: full disk RESOURCE_EXHAUSTED, busy UNAVAILABLE, past the deadline
// DEADLINE_EXCEEDED, not a database FAILED_PRECONDITION, damaged DATA_LOSS.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace assay::db {

class Statement;

class Connection {
 public:
  enum class Mode { kWrite, kRead };

  // kWrite creates the file when there is none. Waits up to `busy_timeout_ms` for locks of others.
  static absl::StatusOr<std::unique_ptr<Connection>> open(const std::string& path,
                                                          Mode mode,
                                                          int busy_timeout_ms = 10'000);
  ~Connection();
  // SQLite keeps the address of the deadline.
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs every statement of `sql`; rows are dropped.
  absl::Status execute(const std::string& sql);

  // One statement, prepared once and kept; it may be borrowed again while it is out.
  absl::StatusOr<Statement> prepare(const std::string& sql);

  // The first column of the first row, as an integer.
  absl::StatusOr<std::int64_t> integer(const std::string& sql);

  // All pages, as one read transaction sees them, into a new file.
  absl::Status copy_to(const std::string& path) const;

  // Statements that still run past this point of the steady clock are interrupted; 0: none.
  void set_deadline_ns(std::int64_t deadline_ns) { deadline_ns_ = deadline_ns; }

  // Likewise when `stop` gives true; it is asked often.
  void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  // How many steps of a statement lie between two looks at them.
  void look_every(int num_steps);

  // Whether the deadline is past, or `stop` gives true.
  bool is_over() const;

  std::int64_t last_insert_rowid() const;
  std::int64_t num_changes() const;
  bool in_transaction() const;
  bool is_read_only() const;

  // The last error of this connection for a result code of `call`.
  absl::Status error(int code, std::string_view call) const;

  // Lent to what prepares statements of its own (db/query.cpp, db/query_rules.cpp).
  sqlite3* handle() const { return database_.get(); }

 private:
  friend class Statement;

  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };

  using Handle = std::unique_ptr<sqlite3_stmt, Finalize>;

  Connection() = default;
  static int on_progress(void* connection);
  void give_back(const std::string* sql, Handle handle);

  std::unique_ptr<sqlite3, Close> database_;
  // Declared after the database: statements are finalized first.
  std::map<std::string, std::vector<Handle>> idle_;
  std::int64_t deadline_ns_ = 0;
  std::function<bool()> stop_;
};

}  // namespace assay::db
