// The text of schema.sql (tables) and views.sql, embedded at build time.
#pragma once

namespace assay::db {

extern const char kSchemaSql[];
extern const char kViewsSql[];

}  // namespace assay::db
