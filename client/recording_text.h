// Recordings as people read them.
#pragma once

#include "client/recorded_file.h"
#include "client/table.h"
#include "proto/assay.pb.h"
#include "tuning/ranking.h"

#include <string>

namespace assay::client {

// What was read, what failed, what is best by each statistic and with how many it ties.
std::string recorded_file_text(const RecordedFile& file, Format format);

// "330 runtime, 12 compile"; empty: none failed.
std::string failures_text(const tuning::Ranking& ranking);

// "block_size_x=8, tile=2" of one row, without parameters that it has no value of.
std::string configuration_text(const v1::Recording& recording, const v1::RecordedRow& row);

std::string recordings_text(const v1::ListRecordingsResponse& response, Format format);

}  // namespace assay::client
