#include "db/json.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

namespace assay::db {
namespace {

absl::Status read_all(Statement& rows, google::protobuf::RepeatedPtrField<v1::Ceiling>& ceilings) {
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    ASSAY_RETURN_IF_ERROR(ceiling_row().read(rows, 0, *ceilings.Add()));
  }
}

}  // namespace

absl::Status read_ceilings(Connection& connection,
                           std::int64_t experiment_id,
                           google::protobuf::RepeatedPtrField<v1::Ceiling>& ceilings) {
  static const std::string sql =
      absl::StrCat("SELECT ",
                   ceiling_row().columns(),
                   " FROM t_ceiling WHERE experiment_id = ? ORDER BY position");
  ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
  rows.bind_all(experiment_id);
  return read_all(rows, ceilings);
}

absl::Status insert_ceilings(Connection& connection, const v1::Configuration& configuration) {
  static const std::string sql = ceiling_row().insert_sql("t_ceiling", {"position"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  for (int i = 0; i < configuration.ceilings_size(); ++i) {
    insert.bind_all(i + 1);
    ASSAY_RETURN_IF_ERROR(within(ceiling_row().bind(insert, 2, configuration.ceilings(i)),
                                 absl::StrCat("ceilings[", i, "]")));
    ASSAY_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<v1::Ceiling>> SqliteStore::ceilings(
    const std::string& device_uuid) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::Ceiling>> {
    static const std::string sql =
        absl::StrCat("SELECT ",
                     ceiling_row().columns(),
                     " FROM t_ceiling WHERE device_uuid = ?1 AND experiment_id ="
                     " (SELECT max(experiment_id) FROM t_ceiling WHERE device_uuid = ?1)"
                     " ORDER BY position");
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(device_uuid);
    google::protobuf::RepeatedPtrField<v1::Ceiling> found;
    ASSAY_RETURN_IF_ERROR(read_all(rows, found));
    return std::vector<v1::Ceiling>(found.begin(), found.end());
  });
}

}  // namespace assay::db
