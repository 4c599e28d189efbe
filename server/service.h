// The gRPC service over the scheduler: requests are checked, one call is made, the status is
// turned into gRPC's. Methods may be called without a port.
#pragma once

#include "proto/assay.grpc.pb.h"
#include "server/goldens.h"
#include "server/scheduler.h"

#include <memory>

namespace assay::server {

// Of a request and of a reply. A Get past it is told to ask for one configuration; a Watch past it
// leaves the configurations out.
inline constexpr int kMaxMessageBytes = 16 << 20;

std::unique_ptr<v1::Assay::Service> make_service(Scheduler& scheduler, const Goldens& goldens);

}  // namespace assay::server
