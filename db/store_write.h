// Experiments into rows, shared by the methods that store them.
#pragma once

#include "db/connection.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>

namespace assay::db {

// Gives its id. Without device and configurations.
absl::StatusOr<std::int64_t> insert_experiment(Connection& connection,
                                               const v1::Experiment& experiment);

// Without what its queue did at that moment; stored where it is not there yet.
absl::StatusOr<std::int64_t> device_id_of(Connection& connection, v1::Device device);

// With all that was measured, judged and checked; gives its own id. The caller counts it.
absl::StatusOr<std::int64_t> insert_configuration(Connection& connection,
                                                  std::int64_t experiment_id,
                                                  const v1::Configuration& configuration);

// The worst verdict over all configurations that are stored.
absl::Status set_severity(Connection& connection, std::int64_t experiment_id);

}  // namespace assay::db
