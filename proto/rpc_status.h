// Between absl::Status and grpc::Status: the codes are the same numbers.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace assay::proto {

grpc::Status to_grpc(const absl::Status& status);
absl::Status from_grpc(const grpc::Status& status);

}  // namespace assay::proto
