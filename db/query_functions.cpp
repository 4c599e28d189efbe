#include "db/query_functions.h"

#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "sqlite3.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace assay::db {
namespace {

std::string_view text_of(sqlite3_value* value) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text == nullptr
             ? std::string_view()
             : std::string_view(text, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

std::string_view blob_of(sqlite3_value* value) {
  const auto* const bytes = static_cast<const char*>(sqlite3_value_blob(value));
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value)));
}

// Past the deadline of the connection: the statement ends with this call.
bool is_over(sqlite3_context* context) {
  const bool over = static_cast<Connection*>(sqlite3_user_data(context))->is_over();
  if (over) {
    sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  }
  return over;
}

bool has_null(int num_arguments, sqlite3_value** arguments) {
  return std::any_of(arguments, arguments + num_arguments, [](sqlite3_value* value) {
    return sqlite3_value_type(value) == SQLITE_NULL;
  });
}

// As std::string_view::find, in linear time; neither is empty.
std::size_t place_of(std::string_view text, std::string_view part, std::size_t from) {
  const void* const found =
      memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::int64_t num_characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  });
}

void instr(sqlite3_context* context, int num_arguments, sqlite3_value** arguments) {
  if (is_over(context) || has_null(num_arguments, arguments)) {
    return;
  }
  const bool is_blob = sqlite3_value_type(arguments[0]) == SQLITE_BLOB &&
                       sqlite3_value_type(arguments[1]) == SQLITE_BLOB;
  const std::string_view text = is_blob ? blob_of(arguments[0]) : text_of(arguments[0]);
  const std::string_view part = is_blob ? blob_of(arguments[1]) : text_of(arguments[1]);
  const std::size_t found = part.empty()   ? 0
                            : text.empty() ? std::string_view::npos
                                           : place_of(text, part, 0);
  if (found == std::string_view::npos) {
    sqlite3_result_int64(context, 0);
    return;
  }
  const auto place =
      is_blob ? static_cast<std::int64_t>(found) : num_characters(text.substr(0, found));
  sqlite3_result_int64(context, place + 1);
}

void replace(sqlite3_context* context, int num_arguments, sqlite3_value** arguments) {
  if (is_over(context) || has_null(num_arguments, arguments)) {
    return;
  }
  const std::string_view text = text_of(arguments[0]);
  const std::string_view part = text_of(arguments[1]);
  const std::string_view other = text_of(arguments[2]);
  const int max_bytes = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  std::string result;
  std::size_t done = 0;
  while (!part.empty() && done < text.size()) {
    const std::size_t found = place_of(text, part, done);
    if (found == std::string_view::npos) {
      break;
    }
    result.append(text.substr(done, found - done)).append(other);
    done = found + part.size();
    if (result.size() > static_cast<std::size_t>(max_bytes)) {
      sqlite3_result_error_toobig(context);
      return;
    }
  }
  result.append(text.substr(done));
  sqlite3_result_text64(context, result.data(), result.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// Whether the pattern is to be looked for in the text; else the result is set: no blob matches, and
// as everywhere NULL gives NULL.
bool may_match(sqlite3_context* context, int num_arguments, sqlite3_value** arguments) {
  if (is_over(context)) {
    return false;
  }
  if (sqlite3_value_type(arguments[0]) == SQLITE_BLOB ||
      sqlite3_value_type(arguments[1]) == SQLITE_BLOB) {
    sqlite3_result_int(context, 0);
    return false;
  }
  if (has_null(num_arguments, arguments)) {
    return false;
  }
  const std::int64_t pattern_bytes = sqlite3_value_bytes(arguments[0]);
  const std::int64_t text_bytes = sqlite3_value_bytes(arguments[1]);
  sqlite3* const database = sqlite3_context_db_handle(context);
  const int max_bytes = sqlite3_limit(database, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
  std::string error;
  if (pattern_bytes > max_bytes) {
    error = absl::StrCat("a LIKE or GLOB pattern has at most ", max_bytes, " bytes");
  } else if (pattern_bytes * text_bytes > kMaxPatternWork) {
    error = absl::StrCat("LIKE or GLOB: a text of ",
                         proto::with_commas(text_bytes),
                         " bytes is too long for a pattern of ",
                         pattern_bytes,
                         "; their product may be ",
                         proto::with_commas(kMaxPatternWork));
  }
  if (!error.empty()) {
    sqlite3_result_error(context, error.c_str(), -1);
  }
  return error.empty();
}

// `X LIKE Y` is like(Y, X), `X LIKE Y ESCAPE Z` like(Y, X, Z).
void like(sqlite3_context* context, int num_arguments, sqlite3_value** arguments) {
  if (!may_match(context, num_arguments, arguments)) {
    return;
  }
  unsigned int escape = 0;
  if (num_arguments == 3) {
    const std::string_view text = text_of(arguments[2]);
    if (text.size() != 1 || text == "%" || text == "_") {
      sqlite3_result_error(context, "ESCAPE: expected one ASCII character, not % or _", -1);
      return;
    }
    escape = static_cast<unsigned char>(text[0]);
  }
  const int other =
      sqlite3_strlike(text_of(arguments[0]).data(), text_of(arguments[1]).data(), escape);
  sqlite3_result_int(context, other == 0 ? 1 : 0);
}

// `X GLOB Y` is glob(Y, X).
void glob(sqlite3_context* context, int num_arguments, sqlite3_value** arguments) {
  if (!may_match(context, num_arguments, arguments)) {
    return;
  }
  const int other = sqlite3_strglob(text_of(arguments[0]).data(), text_of(arguments[1]).data());
  sqlite3_result_int(context, other == 0 ? 1 : 0);
}

struct Function {
  const char* name;
  int num_arguments;
  void (*call)(sqlite3_context*, int, sqlite3_value**);
};

}  // namespace

int add_query_functions(Connection& connection) {
  constexpr std::array<Function, 5> kFunctions = {{
      {"instr", 2, &instr},
      {"replace", 3, &replace},
      {"like", 2, &like},
      {"like", 3, &like},
      {"glob", 2, &glob},
  }};
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (const Function& function : kFunctions) {
    if (const int code = sqlite3_create_function_v2(connection.handle(),
                                                    function.name,
                                                    function.num_arguments,
                                                    kFlags,
                                                    &connection,
                                                    function.call,
                                                    nullptr,
                                                    nullptr,
                                                    nullptr);
        code != SQLITE_OK) {
      return code;
    }
  }
  return SQLITE_OK;
}

}  // namespace assay::db
