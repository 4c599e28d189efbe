#include "db/series_rows.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::db {
namespace {

// What other tables know of a point `p` in the series `s`.
constexpr std::string_view kBesideColumns =
    "p.experiment_id, p.measured_ns, s.arm, e.\"commit\","
    " coalesce(e.spec ->> '$.context.committed_ns', 0), coalesce(e.spec ->> '$.context.dirty', 0),"
    " e.branch, coalesce(d.device ->> '$.driver_version', ''),"
    " coalesce(d.device ->> '$.toolkit_version', ''), coalesce(d.device ->> '$.code_version', '')";
constexpr int kNumBeside = 10;

// Parameters 1 to 7 are what `best` is of.
constexpr std::string_view kBestPoints =
    "(SELECT p.*, row_number() OVER"
    " (PARTITION BY p.experiment_id ORDER BY p.median_ns, p.series_id) AS place"
    " FROM t_series s JOIN t_point p USING (series_id)"
    " WHERE s.operator_name = ?1 AND s.workload = ?2 AND s.stage = ?3 AND s.device_uuid = ?4"
    " AND s.cache_mode = ?5 AND s.launch_mode = ?6 AND s.timing_source = ?7 AND p.rejected = 0)";

std::string points_sql(const PointsRequest& request) {
  const bool is_best = request.series.series_id() == 0;
  const bool by_commit = request.order == v1::BY_COMMIT;
  return absl::StrCat(
      "SELECT ",
      std::string(kBesideColumns),
      ", ",
      point_row().columns("p."),
      " FROM ",
      is_best ? std::string(kBestPoints) : "t_point",
      " p JOIN t_series s USING (series_id) JOIN t_experiment e USING (experiment_id)"
      " LEFT JOIN t_device d USING (device_id) WHERE ",
      is_best ? "p.place = 1" : "p.series_id = ?1",
      " AND (?8 = '' OR e.branch = ?8)",
      by_commit ? " AND e.\"commit\" <> '' AND (e.spec ->> '$.context.committed_ns') > 0"
                  " ORDER BY e.spec ->> '$.context.committed_ns' DESC, p.measured_ns DESC,"
                : " ORDER BY p.measured_ns DESC,",
      " p.experiment_id DESC LIMIT ?9");
}

absl::StatusOr<v1::SeriesPoint> read_point(const Statement& rows) {
  v1::SeriesPoint point;
  point.set_experiment_id(rows.integer(0));
  point.set_measured_ns(rows.integer(1));
  point.set_arm(std::string(rows.text(2)));
  point.set_commit(std::string(rows.text(3)));
  point.set_committed_ns(rows.integer(4));
  point.set_dirty(rows.integer(5) != 0);
  point.set_branch(std::string(rows.text(6)));
  point.set_driver_version(std::string(rows.text(7)));
  point.set_toolkit_version(std::string(rows.text(8)));
  point.set_code_version(std::string(rows.text(9)));
  ASSAY_RETURN_IF_ERROR(point_row().read(rows, kNumBeside, point));
  return point;
}

void bind_points(Statement& rows, const PointsRequest& request) {
  const v1::Series& series = request.series;
  if (series.series_id() != 0) {
    rows.bind(1, series.series_id());
  } else {
    rows.bind_all(series.operator_name(),
                  series.workload(),
                  series.stage(),
                  series.device_uuid(),
                  v1::CacheMode_Name(series.cache_mode()),
                  v1::LaunchMode_Name(series.launch_mode()),
                  v1::TimingSource_Name(series.timing_source()));
  }
  rows.bind(8, request.branch);
  rows.bind(9, std::int64_t{request.max_points});
}

}  // namespace

absl::StatusOr<std::vector<ConfigurationKey>> SqliteStore::pending_points(
    std::uint32_t most) const {
  return readers_.read(
      [&](Connection& connection) -> absl::StatusOr<std::vector<ConfigurationKey>> {
        ASSAY_ASSIGN_OR_RETURN(
            Statement rows,
            connection.prepare("SELECT experiment_id, configuration FROM t_configuration"
                               " INDEXED BY t_configuration_pending WHERE in_history = 0"
                               " ORDER BY configuration_id LIMIT ?"));
        rows.bind_all(most);
        std::vector<ConfigurationKey> keys;
        for (;;) {
          ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
          if (!has_row) {
            return keys;
          }
          keys.push_back({.experiment_id = rows.integer(0),
                          .configuration = static_cast<std::uint32_t>(rows.integer(1))});
        }
      });
}

absl::Status SqliteStore::add_points(const ConfigurationKey& key,
                                     const std::vector<SeriesEntry>& points) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(Statement rows,
                           connection.prepare("SELECT configuration_id FROM t_configuration WHERE"
                                              " experiment_id = ? AND configuration = ?"
                                              " AND in_history = 0"));
    rows.bind_all(key.experiment_id, key.configuration);
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::OkStatus();
    }
    return insert_history(connection,
                          {.experiment_id = key.experiment_id, .configuration_id = rows.integer(0)},
                          points);
  });
}

absl::StatusOr<std::vector<v1::SeriesPoint>> SqliteStore::points(
    const PointsRequest& request) const {
  const std::string sql = points_sql(request);
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::SeriesPoint>> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    bind_points(rows, request);
    std::vector<v1::SeriesPoint> points;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      ASSAY_ASSIGN_OR_RETURN(points.emplace_back(), read_point(rows));
    }
    std::ranges::reverse(points);
    return points;
  });
}

}  // namespace assay::db
