#include "db/json.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

namespace assay::db {
namespace {

constexpr std::uint32_t kDefaultRows = 1'000;
constexpr std::uint32_t kMaxRows = 10'000;

const MessageRow& recording_row() {
  static const MessageRow row(v1::Recording::descriptor(), {});
  return row;
}

const MessageRow& recorded_row() {
  static const MessageRow row(v1::RecordedRow::descriptor(), {});
  return row;
}

}  // namespace

absl::StatusOr<std::int64_t> SqliteStore::add_recording(const v1::Recording& recording,
                                                        const std::vector<v1::RecordedRow>& rows) {
  std::int64_t id = 0;
  const absl::Status status = writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(
        id, connection.integer("SELECT coalesce(max(recording_id), 0) + 1 FROM t_recording"));
    v1::Recording stored = recording;
    stored.set_recording_id(id);
    stored.set_num_rows(static_cast<std::uint32_t>(rows.size()));
    static const std::string sql = recording_row().insert_sql("t_recording", {});
    ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
    ASSAY_RETURN_IF_ERROR(within(recording_row().bind(insert, 1, stored), "recording"));
    ASSAY_RETURN_IF_ERROR(insert.run());
    static const std::string row_sql =
        recorded_row().insert_sql("t_recorded_row", {"recording_id"});
    ASSAY_ASSIGN_OR_RETURN(Statement insert_row, connection.prepare(row_sql));
    for (const v1::RecordedRow& row : rows) {
      insert_row.bind_all(id);
      ASSAY_RETURN_IF_ERROR(
          within(recorded_row().bind(insert_row, 2, row), absl::StrCat("rows[", row.row(), "]")));
      ASSAY_RETURN_IF_ERROR(insert_row.run());
    }
    return absl::OkStatus();
  });
  ASSAY_RETURN_IF_ERROR(status);
  return id;
}

absl::StatusOr<std::vector<v1::Recording>> SqliteStore::recordings() const {
  static const std::string sql = absl::StrCat(
      "SELECT ", recording_row().columns(), " FROM t_recording ORDER BY recording_id DESC");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<std::vector<v1::Recording>> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    std::vector<v1::Recording> all;
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        return all;
      }
      ASSAY_RETURN_IF_ERROR(recording_row().read(rows, 0, all.emplace_back()));
    }
  });
}

absl::StatusOr<v1::GetRecordingResponse> SqliteStore::recording(
    const v1::GetRecordingRequest& request) const {
  if (request.page_size() > kMaxRows) {
    return absl::InvalidArgumentError("page_size: must be at most 10,000");
  }
  static const std::string sql = absl::StrCat("SELECT ",
                                              recording_row().columns(),
                                              " FROM t_recording WHERE recording_id = ?1 OR ?1 = 0"
                                              " ORDER BY recording_id DESC LIMIT 1");
  static const std::string rows_sql =
      absl::StrCat("SELECT ",
                   recorded_row().columns(),
                   " FROM t_recorded_row WHERE recording_id = ? AND \"row\" > ?"
                   " ORDER BY \"row\" LIMIT ?");
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::GetRecordingResponse> {
    v1::GetRecordingResponse response;
    ASSAY_ASSIGN_OR_RETURN(Statement found, connection.prepare(sql));
    found.bind_all(request.recording_id());
    ASSAY_ASSIGN_OR_RETURN(const bool is_there, found.step());
    if (!is_there) {
      return absl::NotFoundError(
          request.recording_id() == 0
              ? "recording_id: nothing is imported yet"
              : absl::StrCat("recording_id: there is no recording ", request.recording_id()));
    }
    ASSAY_RETURN_IF_ERROR(recording_row().read(found, 0, *response.mutable_recording()));
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(rows_sql));
    rows.bind_all(response.recording().recording_id(),
                  request.after_row(),
                  request.page_size() == 0 ? kDefaultRows : request.page_size());
    for (;;) {
      ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
      if (!has_row) {
        return response;
      }
      ASSAY_RETURN_IF_ERROR(recorded_row().read(rows, 0, *response.add_rows()));
    }
  });
}

}  // namespace assay::db
