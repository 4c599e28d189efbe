// Regressions and the history of bits as people and programs read them.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

std::string regressions_text(const v1::ListRegressionsResponse& response, Format format);

std::string bit_history_text(const v1::BitHistoryResponse& response, Format format);

}  // namespace assay::client
