// The text of schema.sql (tables), migration_N.sql (from version N - 1) and views.sql, embedded at
// build time.
#pragma once

namespace assay::db {

extern const char kSchemaSql[];
extern const char kMigration2Sql[];
extern const char kMigration3Sql[];
extern const char kMigration4Sql[];
extern const char kMigration5Sql[];
extern const char kMigration6Sql[];
extern const char kViewsSql[];

}  // namespace assay::db
