#include "db/query_functions.h"

#include "sqlite3.h"

#include <algorithm>
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
  if (has_null(num_arguments, arguments)) {
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
  if (has_null(num_arguments, arguments)) {
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

}  // namespace

int add_query_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  if (const int code = sqlite3_create_function_v2(
          database, "instr", 2, kFlags, nullptr, &instr, nullptr, nullptr, nullptr);
      code != SQLITE_OK) {
    return code;
  }
  return sqlite3_create_function_v2(
      database, "replace", 3, kFlags, nullptr, &replace, nullptr, nullptr, nullptr);
}

}  // namespace assay::db
