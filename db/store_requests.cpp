#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

namespace assay::db {

absl::StatusOr<std::vector<std::pair<std::int64_t, std::string>>> SqliteStore::request_ids() const {
  using Requests = std::vector<std::pair<std::int64_t, std::string>>;
  return readers_.read([](Connection& connection) -> absl::StatusOr<Requests> {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        connection.prepare(
            "SELECT experiment_id, request_id FROM t_experiment ORDER BY experiment_id"));
    Requests requests;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        return requests;
      }
      requests.emplace_back(rows.integer(0), std::string(rows.text(1)));
    }
  });
}

}  // namespace assay::db
