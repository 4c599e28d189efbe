#include "db/series_rows.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <limits>

namespace assay::db {
namespace {

constexpr std::uint32_t kDefaultPage = 200;
constexpr std::uint32_t kMaxPage = 1'000;  // of ListSeriesRequest.page_size

// What the last series of a page was: it goes on behind it.
struct Place {
  std::int64_t newest_experiment_id = std::numeric_limits<std::int64_t>::max();
  std::int64_t series_id = 0;
};

absl::StatusOr<Place> place_of_token(const std::string& token) {
  Place place;
  if (token.empty()) {
    return place;
  }
  const std::size_t dot = token.find('.');
  if (token[0] != 's' || dot == std::string::npos ||
      !absl::SimpleAtoi(token.substr(1, dot - 1), &place.newest_experiment_id) ||
      !absl::SimpleAtoi(token.substr(dot + 1), &place.series_id)) {
    return absl::InvalidArgumentError("page_token: is not one that ListSeries returned");
  }
  return place;
}

absl::StatusOr<std::vector<v1::Series>> read_all(Statement& rows) {
  std::vector<v1::Series> all;
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return all;
    }
    ASSAY_ASSIGN_OR_RETURN(all.emplace_back(), read_series(rows));
  }
}

template <typename Enum>
std::string name_or_any(Enum value, const std::string& name) {
  return value == Enum{} ? "" : name;
}

}  // namespace

absl::StatusOr<v1::ListSeriesResponse> SqliteStore::list_series(
    const v1::ListSeriesRequest& request) const {
  if (request.page_size() > kMaxPage) {
    return absl::InvalidArgumentError("page_size: must be at most 1,000");
  }
  const std::uint32_t size = request.page_size() == 0 ? kDefaultPage : request.page_size();
  ASSAY_ASSIGN_OR_RETURN(const Place place, place_of_token(request.page_token()));
  static const std::string sql =
      absl::StrCat("SELECT * FROM (",
                   select_series_sql(),
                   " WHERE (?1 = '' OR s.operator_name = ?1) AND (",
                   is_device_sql("s.device_uuid", "?2"),
                   ") AND (?3 = '' OR s.variant = ?3) AND (?4 = 'all' OR s.stage = ?4))"
                   " WHERE newest_experiment_id > 0 AND (newest_experiment_id < ?5"
                   " OR (newest_experiment_id = ?5 AND series_id > ?6))"
                   " ORDER BY newest_experiment_id DESC, series_id LIMIT ?7");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::ListSeriesResponse> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(request.operator_name(),
                  request.device(),
                  request.variant(),
                  request.stage().empty() ? "total" : request.stage(),
                  place.newest_experiment_id,
                  place.series_id,
                  size + 1);
    ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Series> all, read_all(rows));
    v1::ListSeriesResponse response;
    if (all.size() > size) {
      all.pop_back();
      response.set_next_page_token(
          absl::StrCat("s", all.back().newest_experiment_id(), ".", all.back().series_id()));
    }
    response.mutable_series()->Assign(all.begin(), all.end());
    return response;
  });
}

absl::StatusOr<std::vector<v1::Series>> SqliteStore::find_series(const v1::Series& wanted,
                                                                 const std::string& device) const {
  static const std::string sql = absl::StrCat(
      select_series_sql(),
      " WHERE s.operator_name = ?1 AND (?2 = '' OR s.workload = ?2) AND (?3 = '' OR s.stage = ?3)"
      " AND (?4 = '' OR s.variant = ?4) AND (?5 = '' OR s.arm = ?5) AND (",
      is_device_sql("s.device_uuid", "?6"),
      ") AND (?7 = '' OR s.cache_mode = ?7) AND (?8 = '' OR s.launch_mode = ?8)"
      " AND (?9 = '' OR s.timing_source = ?9)"
      " AND EXISTS (SELECT 1 FROM t_point p WHERE p.series_id = s.series_id)"
      " ORDER BY s.series_id");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::Series>> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(
        wanted.operator_name(),
        wanted.workload(),
        wanted.stage(),
        wanted.variant(),
        wanted.arm(),
        device,
        name_or_any(wanted.cache_mode(), v1::CacheMode_Name(wanted.cache_mode())),
        name_or_any(wanted.launch_mode(), v1::LaunchMode_Name(wanted.launch_mode())),
        name_or_any(wanted.timing_source(), v1::TimingSource_Name(wanted.timing_source())));
    return read_all(rows);
  });
}

absl::StatusOr<v1::Series> SqliteStore::series(std::int64_t series_id) const {
  static const std::string sql = absl::StrCat(select_series_sql(), " WHERE s.series_id = ?");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::Series> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    rows.bind_all(series_id);
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return absl::NotFoundError(absl::StrCat("series_id: no series ", series_id));
    }
    return read_series(rows);
  });
}

absl::StatusOr<std::vector<v1::Golden>> SqliteStore::epochs_of(const std::string& operator_name,
                                                               const std::string& workload) const {
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::Golden>> {
    ASSAY_ASSIGN_OR_RETURN(
        Statement rows,
        connection.prepare("SELECT DISTINCT p.epoch, g.family, p.reason, p.experiment_id,"
                           " p.accepted_ns FROM t_golden g JOIN t_epoch p USING (epoch)"
                           " WHERE g.operator_name = ? AND g.workload = ?"
                           " ORDER BY p.epoch, g.family"));
    rows.bind_all(operator_name, workload);
    std::vector<v1::Golden> epochs;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        return epochs;
      }
      v1::Golden& epoch = epochs.emplace_back();
      epoch.set_epoch(rows.integer(0));
      epoch.set_family(std::string(rows.text(1)));
      epoch.set_reason(std::string(rows.text(2)));
      epoch.set_experiment_id(rows.integer(3));
      epoch.set_accepted_ns(rows.integer(4));
    }
  });
}

}  // namespace assay::db
