// What a query of people may do: one SELECT over views, with functions that end soon. SQLite asks
// for every table, column and function that a statement names, but it cannot tell a view from a
// common table expression of the same name, and what a view stands for from what was asked for
// itself. So a statement is prepared twice: for stand-ins, an empty database that has the views'
// names and columns and no table; and for the database, where a view may read what it is made of.
#pragma once

#include "db/connection.h"

#include "absl/status/status.h"

#include <set>
#include <string>
#include <utility>

namespace assay::db {

inline constexpr int kMaxQueryBytes = 100'000;        // of its text
inline constexpr int kMaxQueryValueBytes = 16 << 20;  // of any value, also in between

class QueryRules {
 public:
  enum class Place { kStandIns, kDatabase };

  QueryRules(std::set<std::string> views, Place place) : views_(std::move(views)), place_(place) {}

  ~QueryRules() = default;
  // SQLite keeps the address.
  QueryRules(const QueryRules&) = delete;
  QueryRules& operator=(const QueryRules&) = delete;

  // Holds for every statement that is prepared on `connection` from then on, which this outlives.
  absl::Status apply(Connection& connection);

  const std::set<std::string>& views() const { return views_; }

  // What was refused last, and what there is instead; empty: nothing.
  const std::string& refused() const { return refused_; }

  // "columns, devices, ...".
  std::string view_names() const;

 private:
  static int on_authorize(
      void* rules, int action, const char* first, const char* second, const char*, const char* via);
  bool may_read(const std::string& table, const char* column, const char* via) const;

  const std::set<std::string> views_;
  const Place place_;
  std::string refused_;
};

}  // namespace assay::db
