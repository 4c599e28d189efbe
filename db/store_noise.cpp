#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <string_view>

namespace assay::db {
namespace {

constexpr std::string_view kKey =
    " t_noise_floor WHERE device_uuid = ? AND operator_name = ? AND workload = ?"
    " AND cache_mode = ? AND launch_mode = ? AND timing_source = ?";

void bind_key(Statement& statement, const v1::NoiseFloor& key) {
  statement.bind_all(key.device_uuid(),
                     key.operator_name(),
                     key.workload(),
                     v1::CacheMode_Name(key.cache_mode()),
                     v1::LaunchMode_Name(key.launch_mode()),
                     v1::TimingSource_Name(key.timing_source()));
}

}  // namespace

absl::Status SqliteStore::set_noise_floor(const v1::NoiseFloor& floor) {
  return writer_.run([&](Connection& connection) -> absl::Status {
    ASSAY_ASSIGN_OR_RETURN(Statement drop,
                           connection.prepare(absl::StrCat("DELETE FROM", std::string(kKey))));
    bind_key(drop, floor);
    ASSAY_RETURN_IF_ERROR(drop.run());
    static const std::string sql = noise_floor_row().insert_sql("t_noise_floor", {});
    ASSAY_ASSIGN_OR_RETURN(Statement insert, connection.prepare(sql));
    ASSAY_RETURN_IF_ERROR(noise_floor_row().bind(insert, 1, floor));
    return insert.run();
  });
}

absl::StatusOr<std::optional<v1::NoiseFloor>> SqliteStore::noise_floor(
    const v1::NoiseFloor& key) const {
  return readers_.read(
      [&](Connection& connection) -> absl::StatusOr<std::optional<v1::NoiseFloor>> {
        static const std::string sql =
            absl::StrCat("SELECT ", noise_floor_row().columns(), " FROM", std::string(kKey));
        ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
        bind_key(rows, key);
        ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
        if (!has_row) {
          return std::nullopt;
        }
        v1::NoiseFloor floor;
        ASSAY_RETURN_IF_ERROR(noise_floor_row().read(rows, 0, floor));
        return floor;
      });
}

}  // namespace assay::db
