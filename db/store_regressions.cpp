#include "db/series_rows.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <limits>

namespace assay::db {
namespace {

constexpr std::uint32_t kDefaultPage = 100;
constexpr std::uint32_t kMaxPage = 1'000;  // of ListRegressionsRequest.page_size

// Left out: its key, and what t_series keeps.
const MessageRow& regression_row() {
  static const MessageRow row(v1::Regression::descriptor(), {"regression_id", "series"});
  return row;
}

absl::StatusOr<std::int64_t> id_of_token(const std::string& token) {
  std::int64_t id = 0;
  if (token.empty()) {
    return std::numeric_limits<std::int64_t>::max();
  }
  if (token[0] != 'r' || !absl::SimpleAtoi(token.substr(1), &id) || id <= 0) {
    return absl::InvalidArgumentError("page_token: is not one that ListRegressions returned");
  }
  return id;
}

// "SELECT ... FROM t_regression r JOIN t_series s" for read_regression.
const std::string& select_sql() {
  static const std::string sql = absl::StrCat(
      "SELECT r.regression_id, ",
      regression_row().columns("r."),
      ", s.series_id, (SELECT count(*) FROM t_point p WHERE p.series_id = s.series_id),"
      " coalesce((SELECT max(p.experiment_id) FROM t_point p WHERE p.series_id = s.series_id), "
      "0), ",
      series_row().columns("s."),
      " FROM t_regression r JOIN t_series s USING (series_id)");
  return sql;
}

absl::StatusOr<v1::Regression> read_regression(const Statement& rows) {
  v1::Regression regression;
  regression.set_regression_id(rows.integer(0));
  ASSAY_RETURN_IF_ERROR(regression_row().read(rows, 1, regression));
  const int first = 1 + regression_row().num_columns();
  v1::Series& series = *regression.mutable_series();
  series.set_series_id(rows.integer(first));
  series.set_num_points(static_cast<std::uint32_t>(rows.integer(first + 1)));
  series.set_newest_experiment_id(rows.integer(first + 2));
  ASSAY_RETURN_IF_ERROR(series_row().read(rows, first + 3, series));
  return regression;
}

// One with an id replaces what is stored of it.
absl::Status write_regression(Connection& connection, const v1::Regression& regression) {
  ASSAY_ASSIGN_OR_RETURN(Statement drop,
                         connection.prepare("DELETE FROM t_regression WHERE regression_id = ?"));
  drop.bind_all(regression.regression_id());
  ASSAY_RETURN_IF_ERROR(drop.run());
  static const std::string sql =
      regression_row().insert_sql("t_regression", {"regression_id", "series_id"});
  ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
  insert.bind_all(regression.regression_id(), regression.series().series_id());
  if (regression.regression_id() == 0) {
    insert.bind_null(1);
  }
  ASSAY_RETURN_IF_ERROR(regression_row().bind(insert, 3, regression));
  return insert.run();
}

absl::Status replace_changes(Connection& connection, const SeriesUpdate& update) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement drop,
      connection.prepare("DELETE FROM t_change WHERE series_id = ?1 AND experiment_id IN"
                         " (SELECT experiment_id FROM t_point WHERE series_id = ?1"
                         " AND measured_ns >= ?2)"));
  drop.bind_all(update.series.series_id(), update.since_ns);
  ASSAY_RETURN_IF_ERROR(drop.run());
  ASSAY_ASSIGN_OR_RETURN(
      Statement insert,
      connection.prepare("INSERT INTO t_change (series_id, experiment_id, kind, detail)"
                         " SELECT ?, experiment_id, ?, ? FROM t_experiment WHERE experiment_id = ?"
                         " ON CONFLICT DO UPDATE SET detail = detail || '; ' || excluded.detail"));
  for (const v1::SeriesEvent& event : update.changes) {
    insert.bind_all(update.series.series_id(),
                    v1::SeriesEventKind_Name(event.kind()),
                    event.detail(),
                    event.experiment_id());
    ASSAY_RETURN_IF_ERROR(insert.run());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::int64_t>> SqliteStore::stale_series(std::uint32_t most) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<std::int64_t>> {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        connection.prepare("SELECT series_id FROM t_series INDEXED BY t_series_stale"
                           " WHERE is_stale = 1 ORDER BY series_id LIMIT ?"));
    rows.bind_all(most);
    std::vector<std::int64_t> ids;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        return ids;
      }
      ids.push_back(rows.integer(0));
    }
  });
}

absl::Status SqliteStore::update_series(const SeriesUpdate& update) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_RETURN_IF_ERROR(replace_changes(connection, update));
    for (const v1::Regression& regression : update.regressions) {
      ASSAY_RETURN_IF_ERROR(write_regression(connection, regression));
    }
    // A point that came in meanwhile keeps it stale.
    ASSAY_ASSIGN_OR_RETURN(
        Statement mark,
        connection.prepare("UPDATE t_series SET is_stale = 0 WHERE series_id = ?1 AND ?2 ="
                           " (SELECT count(*) FROM t_point WHERE series_id = ?1)"));
    mark.bind_all(update.series.series_id(), update.series.num_points());
    return mark.run();
  });
}

absl::Status SqliteStore::set_regression(const v1::Regression& regression) {
  return writer_.run(
      [&](Connection& connection) { return write_regression(connection, regression); });
}

absl::StatusOr<v1::Regression> SqliteStore::regression(std::int64_t regression_id) const {
  static const std::string sql = absl::StrCat(select_sql(), " WHERE r.regression_id = ?");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::Regression> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(regression_id);
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::NotFoundError(absl::StrCat("regression_id: no regression ", regression_id));
    }
    return read_regression(rows);
  });
}

absl::StatusOr<v1::ListRegressionsResponse> SqliteStore::list_regressions(
    const v1::ListRegressionsRequest& request) const {
  if (request.page_size() > kMaxPage) {
    return absl::InvalidArgumentError("page_size: must be at most 1,000");
  }
  if (!v1::RegressionState_IsValid(request.state())) {
    return absl::InvalidArgumentError("state: is no state of a regression");
  }
  const std::uint32_t size = request.page_size() == 0 ? kDefaultPage : request.page_size();
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t before, id_of_token(request.page_token()));
  static const std::string sql =
      absl::StrCat(select_sql(),
                   " WHERE r.regression_id < ?1 AND (?2 = '' OR r.state = ?2)"
                   " AND (NOT ?3 OR r.state IN ('DETECTED', 'CONFIRMED', 'UNCONFIRMABLE'))"
                   " AND (?4 = '' OR s.operator_name = ?4) AND (",
                   is_device_sql("s.device_uuid", "?5"),
                   ") AND (?6 = 0 OR s.series_id = ?6) ORDER BY r.regression_id DESC LIMIT ?7");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::ListRegressionsResponse> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(before,
                  request.state() == v1::REGRESSION_STATE_UNSPECIFIED
                      ? ""
                      : v1::RegressionState_Name(request.state()),
                  request.only_open(),
                  request.operator_name(),
                  request.device(),
                  request.series_id(),
                  size + 1);
    v1::ListRegressionsResponse response;
    for (std::uint32_t i = 0; i <= size; ++i) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        break;
      }
      // The row beyond the page only tells that there is a next one.
      if (i == size) {
        response.set_next_page_token(absl::StrCat(
            "r", response.regressions(response.regressions_size() - 1).regression_id()));
        break;
      }
      ASSAY_ASSIGN_OR_RETURN(*response.add_regressions(), read_regression(rows));
    }
    return response;
  });
}

}  // namespace assay::db
