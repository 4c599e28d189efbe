// Lists of experiments and of accepted bits.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

std::string experiments_text(const v1::ListResponse& response, Format format);

// Every epoch, oldest first, as a log.
std::string goldens_text(const v1::ListGoldensResponse& response, Format format);

// What an epoch changed.
std::string accepted_text(const v1::AcceptBitsResponse& response, Format format);

}  // namespace assay::client
