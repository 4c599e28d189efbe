#include "db/query_rules.h"

#include "db/query_functions.h"
#include "proto/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "sqlite3.h"

#include <array>
#include <string_view>
#include <utility>

namespace assay::db {
namespace {

// Left out: what makes large values out of nothing (randomblob, zeroblob, printf), what tells of
// the process, what takes quadratic time (trim with a set of characters, unhex, json_patch), and
// what SQLite 3.40 has not (timediff).
const std::set<std::string, std::less<>>& functions() {
  static const std::set<std::string, std::less<>> names = absl::StrSplit(
      // Of many rows, and of windows.
      "avg count group_concat json_group_array json_group_object max min sum total "
      "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank "
      "row_number "
      // Of values.
      "abs char coalesce glob hex ifnull iif instr length like likelihood likely lower nullif "
      "quote replace round sign substr substring typeof unicode unlikely upper "
      // Of numbers.
      "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log "
      "log10 log2 mod pi pow power radians random sin sinh sqrt tan tanh trunc "
      // Of times.
      "current_date current_time current_timestamp date datetime julianday strftime time unixepoch "
      // Of JSON.
      "-> ->> json json_array json_array_length json_extract json_object json_quote json_type "
      "json_valid",
      ' ');
  return names;
}

absl::Status configure(sqlite3* database) {
  // The schema is trusted, since it is ours: without that some versions refuse JSON in views.
  constexpr std::array<std::pair<int, int>, 6> kSwitches = {{
      {SQLITE_DBCONFIG_DEFENSIVE, 1},
      {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
      {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
      // A misspelled name in double quotes is an error, not a text.
      {SQLITE_DBCONFIG_DQS_DML, 0},
      {SQLITE_DBCONFIG_DQS_DDL, 0},
  }};
  for (const auto& [option, value] : kSwitches) {
    if (sqlite3_db_config(database, option, value, nullptr) != SQLITE_OK) {
      return absl::InternalError(absl::StrCat("sqlite3_db_config ", option));
    }
  }
  constexpr std::array<std::pair<int, int>, 11> kLimits = {{
      {SQLITE_LIMIT_LENGTH, kMaxQueryValueBytes},
      {SQLITE_LIMIT_SQL_LENGTH, kMaxQueryBytes},
      {SQLITE_LIMIT_COLUMN, 256},
      {SQLITE_LIMIT_EXPR_DEPTH, 200},
      {SQLITE_LIMIT_COMPOUND_SELECT, 50},
      {SQLITE_LIMIT_VDBE_OP, 200'000},
      {SQLITE_LIMIT_FUNCTION_ARG, 32},
      {SQLITE_LIMIT_ATTACHED, 0},
      {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200},
      {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
      {SQLITE_LIMIT_WORKER_THREADS, 0},
  }};
  for (const auto& [limit, value] : kLimits) {
    sqlite3_limit(database, limit, value);
  }
  return absl::OkStatus();
}

}  // namespace

std::string QueryRules::view_names() const {
  return absl::StrJoin(views_, ", ");
}

bool QueryRules::may_read(const std::string& table, const char* column, const char* via) const {
  if (views_.contains(table) || table == "json_each" || table == "json_tree") {
    return true;
  }
  // Without a column: nothing is read of it, or it is a common table expression.
  const bool is_counted = *column == '\0';
  if (place_ == Place::kDatabase) {
    return is_counted || (via != nullptr && views_.contains(absl::AsciiStrToLower(via)));
  }
  return is_counted && !table.starts_with("sqlite_");
}

int QueryRules::on_authorize(
    void* rules, int action, const char* first, const char* second, const char*, const char* via) {
  auto& self = *static_cast<QueryRules*>(rules);
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_READ:
      if (self.may_read(absl::AsciiStrToLower(first), second, via)) {
        return SQLITE_OK;
      }
      self.refused_ = absl::StrCat("`", first, "` is no view; they are ", self.view_names());
      return SQLITE_DENY;
    case SQLITE_FUNCTION:
      if (functions().contains(absl::AsciiStrToLower(second))) {
        return SQLITE_OK;
      }
      self.refused_ = absl::StrCat(
          "function `", second, "` is not offered; they are ", absl::StrJoin(functions(), ", "));
      return SQLITE_DENY;
    default:
      self.refused_ = "expected one SELECT: a query reads and changes nothing";
      return SQLITE_DENY;
  }
}

absl::Status QueryRules::apply(Connection& connection) {
  sqlite3* const database = connection.handle();
  // A virtual table is set up by a statement of its own: the others no longer can be.
  ASSAY_RETURN_IF_ERROR(connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')"));
  ASSAY_RETURN_IF_ERROR(configure(database));
  // A step may be a function over the largest value.
  constexpr int kStepsBetweenLooks = 100;
  connection.look_every(kStepsBetweenLooks);
  if (const int code = add_query_functions(connection); code != SQLITE_OK) {
    return connection.error(code, "sqlite3_create_function_v2");
  }
  if (const int code = sqlite3_set_authorizer(database, &on_authorize, this); code != SQLITE_OK) {
    return connection.error(code, "sqlite3_set_authorizer");
  }
  return absl::OkStatus();
}

}  // namespace assay::db
