#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

namespace assay::db {

absl::StatusOr<Figures> SqliteStore::figures() const {
  return readers_.read([](Connection& connection) -> absl::StatusOr<Figures> {
    Figures figures;
    static const std::string sql = "SELECT state, count(*) FROM t_experiment GROUP BY state";
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      v1::TaskState state = v1::TASK_STATE_UNSPECIFIED;
      v1::TaskState_Parse(std::string(rows.text(0)), &state);
      figures.num_experiments[state] = rows.integer(1);
    }
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t num_pages, connection.integer("PRAGMA page_count"));
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t page_bytes, connection.integer("PRAGMA page_size"));
    figures.database_bytes = num_pages * page_bytes;
    return figures;
  });
}

absl::Status SqliteStore::check_file() const {
  return FileId::of(path_) == file_
             ? absl::OkStatus()
             : absl::DataLossError(
                   "the database file was removed or replaced while it is open: export what is "
                   "needed, then start the daemon on the right file");
}

}  // namespace assay::db
