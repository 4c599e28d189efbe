#include "tests/client/fake_service.h"

#include "grpcpp/server_context.h"

#include <utility>

namespace assay::client {

grpc::Status FakeService::take_status() {
  return std::exchange(next_status, grpc::Status::OK);
}

grpc::Status FakeService::Submit(grpc::ServerContext* /*context*/,
                                 const v1::SubmitRequest* request,
                                 v1::Experiment* reply) {
  submitted.push_back(*request);
  reply->set_experiment_id(result.experiment_id());
  reply->set_state(v1::QUEUED);
  reply->set_queue_position(1);
  return take_status();
}

grpc::Status FakeService::Get(grpc::ServerContext* /*context*/,
                              const v1::GetRequest* request,
                              v1::Experiment* reply) {
  asked.push_back(*request);
  if (whole_is_too_large && request->configuration() == 0) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED, "ask for one configuration"};
  }
  if (static_cast<int>(request->configuration()) > result.configurations_size()) {
    return {grpc::StatusCode::NOT_FOUND, "configuration: there is no such one"};
  }
  *reply = result;
  if (request->configuration() > 0) {
    reply->clear_configurations();
    *reply->add_configurations() =
        result.configurations(static_cast<int>(request->configuration()) - 1);
  }
  return grpc::Status::OK;
}

grpc::Status FakeService::List(grpc::ServerContext* /*context*/,
                               const v1::ListRequest* request,
                               v1::ListResponse* reply) {
  listed = *request;
  if (!has_nothing) {
    *reply->add_experiments() = result;
    reply->set_next_page_token("older");
  }
  return take_status();
}

grpc::Status FakeService::Watch(grpc::ServerContext* context,
                                const v1::WatchRequest* /*request*/,
                                grpc::ServerWriter<v1::Experiment>* writer) {
  if (!watch_status.ok()) {
    return watch_status;
  }
  v1::Experiment state = result;
  state.clear_configurations();
  state.set_state(v1::RUNNING);
  state.set_num_finished(0);
  writer->Write(state);
  is_watched = true;
  is_watched.notify_all();
  while (watch_hangs && !context->IsCancelled()) {
    // The caller reads nothing new; a write fails once it is gone.
    writer->Write(state);
  }
  if (!watch_hangs) {
    writer->Write(result);
  }
  return grpc::Status::OK;
}

grpc::Status FakeService::Cancel(grpc::ServerContext* /*context*/,
                                 const v1::CancelRequest* /*request*/,
                                 v1::Experiment* reply) {
  *reply = result;
  reply->set_state(v1::CANCELLED);
  return take_status();
}

grpc::Status FakeService::Judge(grpc::ServerContext* /*context*/,
                                const v1::JudgeRequest* request,
                                v1::JudgeResponse* reply) {
  judged = *request;
  *reply->mutable_experiment() = result;
  reply->set_num_judged(2);
  reply->set_num_added(1);
  return take_status();
}

grpc::Status FakeService::ListDevices(grpc::ServerContext* /*context*/,
                                      const v1::ListDevicesRequest* /*request*/,
                                      v1::ListDevicesResponse* reply) {
  *reply = device_list;
  return take_status();
}

grpc::Status FakeService::ListOperators(grpc::ServerContext* /*context*/,
                                        const v1::ListOperatorsRequest* /*request*/,
                                        v1::ListOperatorsResponse* reply) {
  *reply = operator_list;
  return take_status();
}

grpc::Status FakeService::AcceptBits(grpc::ServerContext* /*context*/,
                                     const v1::AcceptBitsRequest* request,
                                     v1::AcceptBitsResponse* reply) {
  accepted = *request;
  reply->set_epoch(3);
  reply->set_num_unchanged(4);
  return take_status();
}

grpc::Status FakeService::Upload(grpc::ServerContext* /*context*/,
                                 grpc::ServerReader<v1::UploadChunk>* reader,
                                 v1::UploadResponse* reply) {
  if (!next_status.ok()) {
    return take_status();
  }
  v1::UploadChunk chunk;
  std::string bytes;
  std::string digest;
  while (reader->Read(&chunk)) {
    digest = digest.empty() ? chunk.digest() : digest;
    bytes += chunk.data();
  }
  blobs[digest] = bytes;
  ++num_uploads;
  reply->set_digest(digest);
  return grpc::Status::OK;
}

grpc::Status FakeService::FindBlobs(grpc::ServerContext* /*context*/,
                                    const v1::FindBlobsRequest* request,
                                    v1::FindBlobsResponse* reply) {
  for (const std::string& digest : request->digests()) {
    if (!blobs.contains(digest)) {
      reply->add_missing(digest);
    }
  }
  return grpc::Status::OK;
}

grpc::Status FakeService::ListGoldens(grpc::ServerContext* /*context*/,
                                      const v1::ListGoldensRequest* request,
                                      v1::ListGoldensResponse* reply) {
  goldens_asked.push_back(*request);
  if (has_nothing) {
    return take_status();
  }
  const bool first = request->page_token().empty();
  v1::Golden& golden = *reply->add_goldens();
  golden.set_operator_name("qsa_decode");
  golden.set_workload(first ? "parity/fp16/1" : "parity/int8/1");
  golden.set_tensor("all");
  golden.set_family("baseline");
  golden.set_domain("any_device");
  golden.set_digest("0123456789abcdef0123456789abcdef");
  golden.set_reason("a shorter sum");
  golden.set_epoch(first ? 0 : 2);
  reply->set_next_page_token(first ? "next" : "");
  return take_status();
}

grpc::Status FakeService::Receipt(grpc::ServerContext* /*context*/,
                                  const v1::ReceiptRequest* request,
                                  v1::ReceiptResponse* reply) {
  receipt_asked = *request;
  *reply = receipt;
  return take_status();
}

grpc::Status FakeService::VerifyReceipt(grpc::ServerContext* /*context*/,
                                        const v1::VerifyReceiptRequest* request,
                                        v1::VerifyReceiptResponse* reply) {
  verify_asked = *request;
  *reply = verified;
  return take_status();
}

grpc::Status FakeService::Resume(grpc::ServerContext* /*context*/,
                                 const v1::ResumeRequest* request,
                                 v1::Experiment* reply) {
  resumed.push_back(request->experiment_id());
  reply->set_experiment_id(result.experiment_id());
  reply->set_state(v1::QUEUED);
  return take_status();
}

grpc::Status FakeService::Query(grpc::ServerContext* /*context*/,
                                const v1::QueryRequest* request,
                                grpc::ServerWriter<v1::QueryChunk>* writer) {
  queried = *request;
  for (const v1::QueryChunk& chunk : query_chunks) {
    writer->Write(chunk);
  }
  return take_status();
}

grpc::Status FakeService::LookupTuning(grpc::ServerContext* /*context*/,
                                       const v1::LookupTuningRequest* request,
                                       v1::LookupTuningResponse* reply) {
  looked_up = *request;
  *reply = tuning;
  return take_status();
}

grpc::Status FakeService::ListTunings(grpc::ServerContext* /*context*/,
                                      const v1::ListTuningsRequest* request,
                                      v1::ListTuningsResponse* reply) {
  tunings_asked = *request;
  *reply = tuning_list;
  return take_status();
}

grpc::Status FakeService::Trend(grpc::ServerContext* /*context*/,
                                const v1::TrendRequest* request,
                                v1::TrendResponse* reply) {
  trend_asked = *request;
  *reply = trends;
  return take_status();
}

grpc::Status FakeService::ListSeries(grpc::ServerContext* /*context*/,
                                     const v1::ListSeriesRequest* request,
                                     v1::ListSeriesResponse* reply) {
  series_asked = *request;
  if (has_nothing) {
    return take_status();
  }
  for (const v1::Trend& trend : trends.trends()) {
    *reply->add_series() = trend.series();
  }
  reply->set_next_page_token("further");
  return take_status();
}

grpc::Status FakeService::ListRegressions(grpc::ServerContext* /*context*/,
                                          const v1::ListRegressionsRequest* request,
                                          v1::ListRegressionsResponse* reply) {
  regressions_asked = *request;
  if (!has_nothing) {
    *reply = regression_list;
  }
  return take_status();
}

grpc::Status FakeService::Acknowledge(grpc::ServerContext* /*context*/,
                                      const v1::AcknowledgeRequest* request,
                                      v1::Regression* reply) {
  acknowledged = *request;
  *reply = regression_list.regressions(0);
  reply->set_state(v1::ACKNOWLEDGED);
  return take_status();
}

grpc::Status FakeService::BitHistory(grpc::ServerContext* /*context*/,
                                     const v1::BitHistoryRequest* request,
                                     v1::BitHistoryResponse* reply) {
  bits_asked = *request;
  if (has_nothing) {
    return take_status();
  }
  v1::BitsEntry& entry = *reply->add_entries();
  entry.set_operator_name("qsa_decode");
  entry.set_digest("abcdef0123456789");
  entry.set_num_measurements(1'200);
  entry.add_variants("one_cell");
  entry.set_epoch(3);
  entry.set_is_golden(true);
  entry.set_reason("shorter sum");
  return take_status();
}

}  // namespace assay::client
