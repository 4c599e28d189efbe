#include "db/series_rows.h"

#include "db/json.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

namespace assay::db {
namespace {

void bind_series(Statement& statement, const v1::Series& series) {
  statement.bind_all(series.operator_name(),
                     series.workload(),
                     series.stage(),
                     series.variant(),
                     series.arm(),
                     series.device_uuid(),
                     v1::CacheMode_Name(series.cache_mode()),
                     v1::LaunchMode_Name(series.launch_mode()),
                     v1::TimingSource_Name(series.timing_source()));
}

// New ones are stale from the beginning.
absl::StatusOr<std::int64_t> series_id_of(Connection& connection, const v1::Series& series) {
  static const std::string sql =
      absl::StrCat(series_row().insert_sql("t_series", {"is_stale"}), " ON CONFLICT DO NOTHING");
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(1);
  ASSAY_RETURN_IF_ERROR(within(series_row().bind(insert, 2, series), "series"));
  ASSAY_RETURN_IF_ERROR(insert.run());
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT series_id FROM t_series WHERE operator_name = ? AND workload = ?"
                         " AND stage = ? AND variant = ? AND arm = ? AND device_uuid = ?"
                         " AND cache_mode = ? AND launch_mode = ? AND timing_source = ?"));
  bind_series(rows, series);
  ASSAY_RETURN_IF_ERROR(rows.step().status());
  return rows.integer(0);
}

absl::Status insert_point(Connection& connection,
                          std::int64_t experiment_id,
                          const SeriesEntry& entry) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t series_id, series_id_of(connection, entry.series));
  ASSAY_ASSIGN_OR_RETURN(
      Statement started,
      connection.prepare("SELECT started_ns FROM t_experiment WHERE experiment_id = ?"));
  started.bind_all(experiment_id);
  ASSAY_RETURN_IF_ERROR(started.step().status());
  static const std::string sql =
      absl::StrCat(point_row().insert_sql("t_point", {"series_id", "experiment_id", "measured_ns"}),
                   " ON CONFLICT DO NOTHING");
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(series_id, experiment_id, started.integer(0));
  ASSAY_RETURN_IF_ERROR(within(point_row().bind(insert, 4, entry.point), "point"));
  ASSAY_RETURN_IF_ERROR(insert.run());
  if (connection.num_changes() == 0) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(Statement stale,
                         connection.prepare("UPDATE t_series SET is_stale = 1 WHERE series_id = ?"
                                            " AND is_stale = 0"));
  stale.bind_all(series_id);
  return stale.run();
}

// Outputs of both arms, and the cases of a check.
absl::Status insert_bits(Connection& connection, std::int64_t configuration_id) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement insert,
      connection.prepare(
          "INSERT INTO t_bits (operator_name, workload, tensor, family, device_uuid, digest,"
          " device_model, first_experiment_id, first_ns, first_commit, last_experiment_id, last_ns,"
          " num_measurements, variants)"
          " SELECT e.operator_name, b.workload, b.tensor, b.family,"
          " coalesce(d.device ->> '$.uuid', ''), b.digest, coalesce(d.device ->> '$.model', ''),"
          " e.experiment_id, e.started_ns, e.\"commit\", e.experiment_id, e.started_ns,"
          " 1, json_array(b.variant) FROM ("
          "SELECT c.experiment_id, c.workload_text AS workload, t.tensor, m.family, t.digest,"
          " m.variant FROM t_configuration c JOIN t_measurement m USING (configuration_id)"
          " JOIN t_digest t ON t.measurement_id = m.measurement_id AND t.side = 'outputs'"
          " WHERE c.configuration_id = ?1 UNION ALL "
          "SELECT c.experiment_id, j.value ->> '$.workload', 'all', j.value ->> '$.family',"
          " j.value ->> '$.digest', '' FROM t_configuration c JOIN t_check k"
          " USING (configuration_id) JOIN json_each(k.digests) j WHERE c.configuration_id = ?1) b"
          " JOIN t_experiment e USING (experiment_id) LEFT JOIN t_device d USING (device_id)"
          " WHERE b.digest <> ''"
          " ON CONFLICT (operator_name, workload, tensor, family, device_uuid, digest) DO UPDATE "
          "SET"
          " num_measurements = num_measurements + 1,"
          " first_experiment_id = iif(excluded.first_ns < first_ns, excluded.first_experiment_id,"
          " first_experiment_id),"
          " first_commit = iif(excluded.first_ns < first_ns, excluded.first_commit, first_commit),"
          " first_ns = min(first_ns, excluded.first_ns),"
          " last_experiment_id = iif(excluded.last_ns >= last_ns, excluded.last_experiment_id,"
          " last_experiment_id),"
          " last_ns = max(last_ns, excluded.last_ns),"
          " variants = iif((excluded.variants ->> '$[0]') IN (SELECT value FROM "
          "json_each(variants)),"
          " variants, json_insert(variants, '$[#]', excluded.variants ->> '$[0]'))"));
  insert.bind_all(configuration_id);
  return insert.run();
}

}  // namespace

absl::Status insert_history(Connection& connection,
                            const StoredConfiguration& configuration,
                            const std::vector<SeriesEntry>& entries) {
  for (const SeriesEntry& entry : entries) {
    ASSAY_RETURN_IF_ERROR(insert_point(connection, configuration.experiment_id, entry));
  }
  ASSAY_RETURN_IF_ERROR(insert_bits(connection, configuration.configuration_id));
  ASSAY_ASSIGN_OR_RETURN(
      Statement mark,
      connection.prepare("UPDATE t_configuration SET in_history = 1 WHERE configuration_id = ?"));
  mark.bind_all(configuration.configuration_id);
  return mark.run();
}

const MessageRow& series_row() {
  static const MessageRow row(v1::Series::descriptor(),
                              {"series_id", "num_points", "newest_experiment_id"});
  return row;
}

// Left out: what other tables keep.
const MessageRow& point_row() {
  static const MessageRow row(v1::SeriesPoint::descriptor(),
                              {"experiment_id",
                               "measured_ns",
                               "commit",
                               "committed_ns",
                               "dirty",
                               "branch",
                               "arm",
                               "driver_version",
                               "toolkit_version",
                               "code_version"});
  return row;
}

const std::string& select_series_sql() {
  static const std::string sql = absl::StrCat(
      "SELECT s.series_id, (SELECT count(*) FROM t_point p WHERE p.series_id = s.series_id),"
      " coalesce((SELECT max(p.experiment_id) FROM t_point p WHERE p.series_id = s.series_id), 0)"
      " AS newest_experiment_id, ",
      series_row().columns("s."),
      " FROM t_series s");
  return sql;
}

absl::StatusOr<v1::Series> read_series(const Statement& statement) {
  v1::Series series;
  series.set_series_id(statement.integer(0));
  series.set_num_points(static_cast<std::uint32_t>(statement.integer(1)));
  series.set_newest_experiment_id(statement.integer(2));
  ASSAY_RETURN_IF_ERROR(series_row().read(statement, 3, series));
  return series;
}

std::string is_device_sql(std::string_view uuid_column, std::string_view parameter) {
  const std::string column(uuid_column);
  const std::string value(parameter);
  return absl::StrCat(value,
                      " = '' OR ",
                      column,
                      " = ",
                      value,
                      " OR ",
                      column,
                      " IN (SELECT d.uuid FROM devices d WHERE d.name = ",
                      value,
                      ")");
}

}  // namespace assay::db
