// What a configuration leaves in the history: points of series, and which bits its tensors had.
#pragma once

#include "db/message_row.h"
#include "db/statement.h"
#include "db/store.h"

#include "absl/status/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::db {

struct StoredConfiguration {
  std::int64_t experiment_id = 0;
  std::int64_t configuration_id = 0;
};

// Marks the configuration as being in the history. A series has one point an experiment: the first.
absl::Status insert_history(Connection& connection,
                            const StoredConfiguration& configuration,
                            const std::vector<SeriesEntry>& entries);

// How t_series and t_point keep their messages.
const MessageRow& series_row();
const MessageRow& point_row();

// "SELECT ... FROM t_series s" for read_series.
const std::string& select_series_sql();
absl::StatusOr<v1::Series> read_series(const Statement& statement);

// "s.device_uuid = ?N OR ...": a device by its uuid or by any name that it had.
std::string is_device_sql(std::string_view uuid_column, std::string_view parameter);

}  // namespace assay::db
