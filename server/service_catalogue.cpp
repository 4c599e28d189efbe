#include "server/assay_service.h"
#include "server/call_log.h"
#include "server/service_parts.h"

namespace assay::server {

grpc::Status AssayService::LookupTuning(grpc::ServerContext* context,
                                        const v1::LookupTuningRequest* request,
                                        v1::LookupTuningResponse* reply) {
  const CallLog log("LookupTuning");
  return log.done(take(scheduler_.lookup_tuning(*request, context->deadline()), *reply));
}

grpc::Status AssayService::ListTunings(grpc::ServerContext* context,
                                       const v1::ListTuningsRequest* request,
                                       v1::ListTuningsResponse* reply) {
  const CallLog log("ListTunings");
  return log.done(take(scheduler_.tunings(*request, context->deadline()), *reply));
}

grpc::Status AssayService::ListDevices(grpc::ServerContext* context,
                                       const v1::ListDevicesRequest* /*request*/,
                                       v1::ListDevicesResponse* reply) {
  const CallLog log("ListDevices");
  *reply = scheduler_.devices(context->deadline());
  return log.done(absl::OkStatus());
}

grpc::Status AssayService::ListOperators(grpc::ServerContext* context,
                                         const v1::ListOperatorsRequest* request,
                                         v1::ListOperatorsResponse* reply) {
  const CallLog log("ListOperators");
  auto description = scheduler_.describe(request->device(), context->deadline());
  if (description.ok()) {
    *reply->mutable_operators() = {description->operators.begin(), description->operators.end()};
  }
  return log.done(description.status());
}

}  // namespace assay::server
