#include "db/migrations.h"

#include "db/schema.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::db {
namespace {

absl::StatusOr<std::string> drop_views_sql(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement views,
      connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name"));
  std::string sql;
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, views.step());
    if (!has_row) {
      return sql;
    }
    absl::StrAppend(&sql, "DROP VIEW \"", std::string(views.text(0)), "\"; ");
  }
}

absl::StatusOr<std::string> text_of_views(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement views,
      connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view' ORDER BY name"));
  std::string text;
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, views.step());
    if (!has_row) {
      return text;
    }
    absl::StrAppend(&text, std::string(views.text(0)), ";\n");
  }
}

// What `change` did, or nothing.
absl::Status in_transaction(Connection& connection, const std::function<absl::Status()>& change) {
  ASSAY_RETURN_IF_ERROR(connection.execute("BEGIN IMMEDIATE"));
  absl::Status status = change();
  if (status.ok()) {
    status = connection.execute("COMMIT");
  }
  if (connection.in_transaction()) {
    static_cast<void>(connection.execute("ROLLBACK"));
  }
  return status;
}

// Views hold no data, so those of the file follow the program without a version of their own.
absl::Status renew_views(Connection& connection, const Schema& schema) {
  ASSAY_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> scratch,
                         Connection::open(":memory:", Connection::Mode::kWrite));
  ASSAY_RETURN_IF_ERROR(scratch->execute(schema.views_sql));
  ASSAY_ASSIGN_OR_RETURN(const std::string wanted, text_of_views(*scratch));
  ASSAY_ASSIGN_OR_RETURN(const std::string there, text_of_views(connection));
  if (there == wanted) {
    return absl::OkStatus();
  }
  return in_transaction(connection, [&]() -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(const std::string drop_views, drop_views_sql(connection));
    ASSAY_RETURN_IF_ERROR(connection.execute(drop_views));
    return connection.execute(schema.views_sql);
  });
}

absl::Status check_foreign_keys(Connection& connection) {
  ASSAY_ASSIGN_OR_RETURN(Statement check, connection.prepare("PRAGMA foreign_key_check"));
  ASSAY_ASSIGN_OR_RETURN(const bool has_row, check.step());
  return has_row ? absl::DataLossError(absl::StrCat("migration leaves a broken reference in ",
                                                    std::string(check.text(0))))
                 : absl::OkStatus();
}

absl::Status go_forward(Connection& connection, const Schema& schema, std::int64_t from_version) {
  if (from_version == 0) {
    ASSAY_RETURN_IF_ERROR(connection.execute(schema.tables_sql));
  } else {
    ASSAY_ASSIGN_OR_RETURN(const std::string drop_views, drop_views_sql(connection));
    ASSAY_RETURN_IF_ERROR(connection.execute(drop_views));
    std::int64_t version = from_version;
    for (const Migration& migration : schema.migrations) {
      if (migration.to_version == version + 1) {
        ASSAY_RETURN_IF_ERROR(connection.execute(migration.sql));
        ++version;
      }
    }
    if (version != schema.version) {
      return absl::InternalError(absl::StrCat("no migration from schema version ", version));
    }
  }
  ASSAY_RETURN_IF_ERROR(connection.execute(schema.views_sql));
  ASSAY_RETURN_IF_ERROR(check_foreign_keys(connection));
  return connection.execute(absl::StrCat(
      "PRAGMA application_id = ", kApplicationId, "; PRAGMA user_version = ", schema.version));
}

}  // namespace

const Schema& newest_schema() {
  static const std::array<Migration, 5> migrations{Migration{2, kMigration2Sql},
                                                   Migration{3, kMigration3Sql},
                                                   Migration{4, kMigration4Sql},
                                                   Migration{5, kMigration5Sql},
                                                   Migration{6, kMigration6Sql}};
  static const Schema schema{kSchemaVersion, kSchemaSql, kViewsSql, migrations};
  return schema;
}

absl::Status migrate(Connection& connection, const Schema& schema) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t version, connection.integer("PRAGMA user_version"));
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, connection.integer("PRAGMA application_id"));
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t num_objects,
                         connection.integer("SELECT count(*) FROM sqlite_schema"));
  const bool is_new = id == 0 && version == 0 && num_objects == 0;
  if (!is_new && (id != kApplicationId || version <= 0)) {
    return absl::FailedPreconditionError("not an assay database");
  }
  if (version > schema.version) {
    return absl::FailedPreconditionError(absl::StrCat("database has schema version ",
                                                      version,
                                                      ", this program knows versions up to ",
                                                      schema.version,
                                                      ": use a newer assayd"));
  }
  if (version == schema.version) {
    return renew_views(connection, schema);
  }

  // References are checked once at the end: a step may rebuild a table that others refer to.
  ASSAY_RETURN_IF_ERROR(connection.execute("PRAGMA foreign_keys = OFF"));
  const absl::Status status =
      in_transaction(connection, [&] { return go_forward(connection, schema, version); });
  const absl::Status restored = connection.execute("PRAGMA foreign_keys = ON");
  return status.ok() ? restored : status;
}

}  // namespace assay::db
