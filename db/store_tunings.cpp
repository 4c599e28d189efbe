#include "db/json.h"
#include "db/message_row.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

namespace assay::db {
namespace {

// The variant of the arm is part of the key and stands in a column of its own.
const MessageRow& tuning_row() {
  static const MessageRow row(v1::Tuning::descriptor(), {"stale"});
  return row;
}

}  // namespace

absl::Status SqliteStore::set_tuning(const v1::Tuning& tuning) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(
        Statement drop,
        connection.prepare(
            "DELETE FROM t_tuning WHERE operator_name = ? AND workload = ? AND variant = ?"
            " AND device_model = ? AND compute_capability = ? AND code_digest = ?"
            " AND toolkit_version = ? AND driver_version = ? AND cache_mode = ?"
            " AND launch_mode = ?"));
    drop.bind_all(tuning.operator_name(),
                  tuning.workload(),
                  tuning.arm().variant(),
                  tuning.device_model(),
                  tuning.compute_capability(),
                  tuning.code_digest(),
                  tuning.toolkit_version(),
                  tuning.driver_version(),
                  v1::CacheMode_Name(tuning.cache_mode()),
                  v1::LaunchMode_Name(tuning.launch_mode()));
    ASSAY_RETURN_IF_ERROR(drop.run());
    static const std::string sql = tuning_row().insert_sql("t_tuning", {"variant"});
    ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
    insert.bind_all(tuning.arm().variant());
    ASSAY_RETURN_IF_ERROR(within(tuning_row().bind(insert, 2, tuning), "tuning"));
    return insert.run();
  });
}

absl::StatusOr<std::vector<v1::Tuning>> SqliteStore::tunings(
    const v1::ListTuningsRequest& request) const {
  static const std::string sql = absl::StrCat(
      "SELECT ",
      tuning_row().columns(),
      " FROM t_tuning WHERE (?1 = '' OR operator_name = ?1) AND (?2 = '' OR device_model = ?2)"
      " ORDER BY measured_ns DESC, workload, variant");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::Tuning>> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(request.operator_name(), request.device_model());
    std::vector<v1::Tuning> all;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        return all;
      }
      ASSAY_RETURN_IF_ERROR(tuning_row().read(rows, 0, all.emplace_back()));
    }
  });
}

absl::StatusOr<std::string> SqliteStore::newest_code_digest(const v1::Tuning& tuning) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::string> {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        connection.prepare("SELECT m.code_digest FROM t_experiment e"
                           " JOIN t_device d USING (device_id)"
                           " JOIN t_configuration c USING (experiment_id)"
                           " JOIN t_measurement m USING (configuration_id)"
                           " WHERE e.operator_name = ?1 AND m.arm_text = ?2"
                           " AND d.device ->> '$.uuid' = ?3 AND m.code_digest <> ''"
                           " AND substr(c.workload_text, 1, length(?4)) = ?4"
                           " ORDER BY e.experiment_id DESC LIMIT 1"));
    rows.bind_all(tuning.operator_name(),
                  proto::text_of(tuning.arm()),
                  tuning.device_uuid(),
                  absl::StrCat(tuning.workload(), ",seed="));
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    return has_row ? std::string(rows.text(0)) : std::string();
  });
}

}  // namespace assay::db
