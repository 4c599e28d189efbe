#include "server/assay_service.h"
#include "server/call_log.h"
#include "server/service_parts.h"

namespace assay::server {

grpc::Status AssayService::AcceptBits(grpc::ServerContext* context,
                                      const v1::AcceptBitsRequest* request,
                                      v1::AcceptBitsResponse* reply) {
  const CallLog log("AcceptBits");
  absl::Status status = check_id(request->experiment_id());
  if (status.ok()) {
    status = take(scheduler_.accept_bits(*request, context->deadline()), *reply);
  }
  if (status.ok() && !fits(*reply)) {
    reply->clear_goldens();
  }
  return log.done(status, request->experiment_id());
}

grpc::Status AssayService::ListGoldens(grpc::ServerContext* /*context*/,
                                       const v1::ListGoldensRequest* request,
                                       v1::ListGoldensResponse* reply) {
  const CallLog log("ListGoldens");
  return log.done(take(goldens_.list(*request), *reply));
}

grpc::Status AssayService::Trend(grpc::ServerContext* /*context*/,
                                 const v1::TrendRequest* request,
                                 v1::TrendResponse* reply) {
  const CallLog log("Trend");
  return log.done(take(scheduler_.trend(*request), *reply), request->series_id());
}

grpc::Status AssayService::ListSeries(grpc::ServerContext* /*context*/,
                                      const v1::ListSeriesRequest* request,
                                      v1::ListSeriesResponse* reply) {
  const CallLog log("ListSeries");
  return log.done(take(scheduler_.list_series(*request), *reply));
}

grpc::Status AssayService::ListRegressions(grpc::ServerContext* /*context*/,
                                           const v1::ListRegressionsRequest* request,
                                           v1::ListRegressionsResponse* reply) {
  const CallLog log("ListRegressions");
  return log.done(take(scheduler_.list_regressions(*request), *reply));
}

grpc::Status AssayService::Acknowledge(grpc::ServerContext* /*context*/,
                                       const v1::AcknowledgeRequest* request,
                                       v1::Regression* reply) {
  const CallLog log("Acknowledge");
  return log.done(take(scheduler_.acknowledge(*request), *reply), request->regression_id());
}

grpc::Status AssayService::BitHistory(grpc::ServerContext* /*context*/,
                                      const v1::BitHistoryRequest* request,
                                      v1::BitHistoryResponse* reply) {
  const CallLog log("BitHistory");
  return log.done(take(scheduler_.bit_history(*request), *reply));
}

}  // namespace assay::server
