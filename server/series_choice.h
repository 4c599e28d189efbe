// Which series a TrendRequest names: one a device.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string_view>
#include <vector>

namespace assay::server {

// The fastest arm of each experiment.
inline constexpr std::string_view kBestVariant = "best";

// `info` describes the operator and gives its axes their defaults; null: it is not known here, and
// the axes have to name one of the stored workloads. NOT_FOUND lists what there is,
// INVALID_ARGUMENT the arms or workloads to choose from. A series of kBestVariant has no id.
absl::StatusOr<std::vector<v1::Series>> choose_series(const db::Store& store,
                                                      const v1::TrendRequest& request,
                                                      const v1::OperatorInfo* info);

}  // namespace assay::server
