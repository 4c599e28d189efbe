// Devices and operators as people read them.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

// A table, then for every device what it lacks and why, the last failure of its runner, and its
// newest ceilings or how to get them.
std::string devices_text(const v1::ListDevicesResponse& response, Format format);

// One line per operator.
std::string operators_text(const v1::ListOperatorsResponse& response, Format format);

// Everything that can be asked of one operator: axes, variants and their parameters, workloads,
// mutants, checks.
std::string operator_text(const v1::OperatorInfo& info, Format format);

// NOT_FOUND lists the valid names.
absl::StatusOr<v1::OperatorInfo> find_operator(const v1::ListOperatorsResponse& response,
                                               const std::string& name);

// The first available CUDA device, else the first available one. FAILED_PRECONDITION says why none
// is.
absl::StatusOr<std::string> default_device(const v1::ListDevicesResponse& response);

}  // namespace assay::client
