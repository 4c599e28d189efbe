#include "db/query.h"

#include "db/connection.h"
#include "db/heap_budget.h"
#include "db/json.h"
#include "db/query_rows.h"
#include "db/query_rules.h"
#include "db/statement.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "sqlite3.h"

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace assay::db {
namespace {

// No deadline ends the parsing of names that stand for ever more.
constexpr std::int64_t kMaxParseHeapBytes = std::int64_t{16} << 20;

using Columns = std::map<std::string, std::vector<std::string>>;  // of each view

struct Finalize {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

absl::Status refuse(std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("sql: ", std::string(why)));
}

absl::Status check(const v1::QueryRequest& request) {
  const std::string& sql = request.sql();
  if (sql.size() > std::size_t{kMaxQueryBytes}) {
    return refuse(absl::StrCat("has ",
                               proto::with_commas(static_cast<std::int64_t>(sql.size())),
                               " bytes, the limit is ",
                               proto::with_commas(kMaxQueryBytes)));
  }
  if (sql.find('\0') != std::string::npos) {
    return refuse("has a NUL character");
  }
  if (!is_utf8(sql)) {
    return refuse("is not UTF-8");
  }
  if (request.max_rows() > kMaxQueryRows) {
    return absl::InvalidArgumentError("max_rows: must be at most 1,000,000");
  }
  if (request.deadline_ns() < 0 || request.deadline_ns() > kMaxQueryDeadlineNs) {
    return absl::InvalidArgumentError("deadline_ns: must be in [0, 60,000,000,000]");
  }
  return absl::OkStatus();
}

// SQLite's own words for what the caller may mend, with what it lacks to act on them.
absl::Status explain(int code, const Connection& connection, const QueryRules& rules) {
  const std::string message = sqlite3_errmsg(connection.handle());
  switch (code & 0xff) {
    case SQLITE_TOOBIG:
      return absl::ResourceExhaustedError(absl::StrCat("sql: ",
                                                       message,
                                                       "; a value may have ",
                                                       proto::with_commas(kMaxQueryValueBytes),
                                                       " bytes"));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(
          "sql: needs more memory than a query has: name, sort, group or join less");
    case SQLITE_AUTH:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
      if (!rules.refused().empty()) {
        return refuse(rules.refused());
      }
      return refuse(message.starts_with("no such table")
                        ? absl::StrCat(message, "; the views are ", rules.view_names())
                        : message);
    default:
      return connection.error(code, "query");
  }
}

// What the database documents. Other views are not offered.
absl::StatusOr<Columns> documented_columns(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT view, name FROM columns WHERE position > 0 ORDER BY position"));
  Columns columns;
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return columns;
    }
    columns[std::string(rows.text(0))].emplace_back(rows.text(1));
  }
}

std::string stand_ins_sql(const Columns& columns) {
  std::string sql;
  for (const auto& [view, names] : columns) {
    std::string_view before = " AS SELECT NULL AS \"";
    absl::StrAppend(&sql, "CREATE VIEW \"", view, "\"");
    for (const std::string& name : names) {
      absl::StrAppend(&sql, std::string(before), name, "\"");
      before = ", NULL AS \"";
    }
    absl::StrAppend(&sql, ";");
  }
  return sql;
}

// Sets `tail` to where the next statement would begin.
absl::StatusOr<Prepared> prepare(const Connection& connection,
                                 const QueryRules& rules,
                                 std::string_view sql,
                                 const char** tail) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(
      connection.handle(), sql.data(), static_cast<int>(sql.size()), 0, &statement, tail);
  return code == SQLITE_OK ? absl::StatusOr<Prepared>(statement) : explain(code, connection, rules);
}

// Whether the statement is one that the rules allow, where there is nothing but the views' names.
absl::Status try_on_stand_ins(const std::string& sql, const Columns& columns) {
  std::set<std::string> views;
  for (const auto& [view, names] : columns) {
    views.insert(view);
  }
  QueryRules rules(views, QueryRules::Place::kStandIns);
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                         Connection::open(":memory:", Connection::Mode::kWrite));
  ASSAY_RETURN_IF_ERROR(connection->execute(stand_ins_sql(columns)));
  ASSAY_RETURN_IF_ERROR(rules.apply(*connection));
  const char* tail = nullptr;
  ASSAY_ASSIGN_OR_RETURN(const Prepared statement, prepare(*connection, rules, sql, &tail));
  if (statement == nullptr) {
    return refuse("expected one SELECT, has no statement");
  }
  if (sqlite3_stmt_isexplain(statement.get()) != 0 || sqlite3_stmt_readonly(statement.get()) == 0 ||
      sqlite3_column_count(statement.get()) == 0) {
    return refuse("expected one SELECT: a query reads and changes nothing");
  }
  if (sqlite3_bind_parameter_count(statement.get()) > 0) {
    return refuse("has a parameter (?, :name, @name or $name); write the value itself");
  }
  // Comments may follow.
  const std::string_view rest =
      std::string_view(sql).substr(static_cast<std::size_t>(tail - sql.data()));
  const auto next = prepare(*connection, rules, rest, &tail);
  return next.ok() && *next == nullptr && *tail == '\0' ? absl::OkStatus()
                                                        : refuse("has more than one statement");
}

absl::Status send_rows(sqlite3_stmt* statement,
                       const v1::QueryRequest& request,
                       const QueryCaller& caller,
                       const Connection& connection,
                       const QueryRules& rules) {
  QueryRows rows(
      statement, caller, request.max_rows() == 0 ? kDefaultQueryRows : request.max_rows());
  for (;;) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) {
      return rows.finish();
    }
    if (code != SQLITE_ROW) {
      return explain(code, connection, rules);
    }
    ASSAY_ASSIGN_OR_RETURN(const bool goes_on, rows.add());
    if (!goes_on) {
      return rows.finish();
    }
  }
}

absl::Status run_checked(const std::string& path,
                         const v1::QueryRequest& request,
                         const QueryCaller& caller,
                         std::int64_t deadline_ns) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                         Connection::open(path, Connection::Mode::kRead));
  connection->set_deadline_ns(deadline_ns);
  connection->set_stop(caller.has_left);
  // What is sorted or grouped stays in the heap, which has a bound.
  ASSAY_RETURN_IF_ERROR(connection->execute("PRAGMA temp_store = MEMORY"));
  ASSAY_ASSIGN_OR_RETURN(const Columns columns, documented_columns(*connection));
  {
    const HeapBudget budget(kMaxParseHeapBytes);
    ASSAY_RETURN_IF_ERROR(try_on_stand_ins(request.sql(), columns));
  }
  std::set<std::string> views;
  for (const auto& [view, names] : columns) {
    views.insert(view);
  }
  QueryRules rules(views, QueryRules::Place::kDatabase);
  ASSAY_RETURN_IF_ERROR(rules.apply(*connection));
  const HeapBudget budget(kMaxQueryHeapBytes);
  const char* tail = nullptr;
  ASSAY_ASSIGN_OR_RETURN(const Prepared statement,
                         prepare(*connection, rules, request.sql(), &tail));
  return send_rows(statement.get(), request, caller, *connection, rules);
}

}  // namespace

absl::Status run_query(const std::string& path,
                       const v1::QueryRequest& request,
                       const QueryCaller& caller) {
  ASSAY_RETURN_IF_ERROR(check(request));
  const std::int64_t limit_ns =
      request.deadline_ns() == 0 ? kDefaultQueryDeadlineNs : request.deadline_ns();
  absl::Status status = run_checked(path, request, caller, steady_now_ns() + limit_ns);
  if (!absl::IsDeadlineExceeded(status)) {
    return status;
  }
  return caller.has_left()
             ? absl::CancelledError("the client went away")
             : absl::DeadlineExceededError(absl::StrCat(
                   "sql: was still running at its deadline of ", limit_ns / 1'000'000, " ms"));
}

}  // namespace assay::db
