// Brings a file to the newest schema: an empty one is created, an older one goes forward step by
// step, all in one transaction. Nothing is written before the file is known to be assay's. The
// views of a file of this version become those of the program.
#pragma once

#include "db/connection.h"

#include "absl/status/status.h"

#include <cstdint>
#include <span>

namespace assay::db {

// In the header of every file of ours: "assa".
constexpr std::int64_t kApplicationId = 0x61737361;
constexpr std::int64_t kSchemaVersion = 6;

// From version `to_version - 1`.
struct Migration {
  std::int64_t to_version;
  const char* sql;
};

// The schema to arrive at and the way there; views are made anew after every step.
struct Schema {
  std::int64_t version;
  const char* tables_sql;
  const char* views_sql;
  std::span<const Migration> migrations;
};

const Schema& newest_schema();

// FAILED_PRECONDITION: not an assay database, or of a newer version (names both).
absl::Status migrate(Connection& connection, const Schema& schema = newest_schema());

}  // namespace assay::db
