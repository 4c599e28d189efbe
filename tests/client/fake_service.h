// A daemon that answers from a script and keeps what it was asked.
#pragma once

#include "proto/assay.grpc.pb.h"

#include "grpcpp/server.h"

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay::client {

class FakeService final : public v1::Assay::Service {
 public:
  v1::Experiment result;  // what Get and Watch end with
  v1::ListDevicesResponse device_list;
  v1::ListOperatorsResponse operator_list;
  v1::LookupTuningResponse tuning;
  v1::ListTuningsResponse tuning_list;
  grpc::Status next_status;         // of the next unary call but Get
  grpc::Status watch_status;        // of Watch, which then writes nothing
  bool has_nothing = false;         // no experiment, series, regression or bits
  bool watch_hangs = false;         // until the caller leaves
  bool whole_is_too_large = false;  // Get answers only for one configuration
  std::atomic<bool> is_watched = false;

  std::vector<v1::SubmitRequest> submitted;
  std::vector<v1::GetRequest> asked;
  v1::ListRequest listed;
  v1::JudgeRequest judged;
  v1::AcceptBitsRequest accepted;
  std::vector<v1::ListGoldensRequest> goldens_asked;
  std::vector<std::int64_t> resumed;
  std::vector<v1::QueryChunk> query_chunks;
  v1::QueryRequest queried;
  v1::LookupTuningRequest looked_up;
  v1::ListTuningsRequest tunings_asked;
  v1::TrendResponse trends;
  v1::ListRegressionsResponse regression_list;
  v1::TrendRequest trend_asked;
  v1::ListSeriesRequest series_asked;
  v1::ListRegressionsRequest regressions_asked;
  v1::AcknowledgeRequest acknowledged;
  v1::BitHistoryRequest bits_asked;

  v1::ReceiptResponse receipt;
  v1::VerifyReceiptResponse verified;
  v1::ReceiptRequest receipt_asked;
  v1::VerifyReceiptRequest verify_asked;

  grpc::Status Submit(grpc::ServerContext* context,
                      const v1::SubmitRequest* request,
                      v1::Experiment* reply) override;
  grpc::Status Get(grpc::ServerContext* context,
                   const v1::GetRequest* request,
                   v1::Experiment* reply) override;
  grpc::Status List(grpc::ServerContext* context,
                    const v1::ListRequest* request,
                    v1::ListResponse* reply) override;
  grpc::Status Watch(grpc::ServerContext* context,
                     const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::Experiment>* writer) override;
  grpc::Status Cancel(grpc::ServerContext* context,
                      const v1::CancelRequest* request,
                      v1::Experiment* reply) override;
  grpc::Status Judge(grpc::ServerContext* context,
                     const v1::JudgeRequest* request,
                     v1::JudgeResponse* reply) override;
  grpc::Status ListDevices(grpc::ServerContext* context,
                           const v1::ListDevicesRequest* request,
                           v1::ListDevicesResponse* reply) override;
  grpc::Status ListOperators(grpc::ServerContext* context,
                             const v1::ListOperatorsRequest* request,
                             v1::ListOperatorsResponse* reply) override;
  grpc::Status AcceptBits(grpc::ServerContext* context,
                          const v1::AcceptBitsRequest* request,
                          v1::AcceptBitsResponse* reply) override;
  grpc::Status ListGoldens(grpc::ServerContext* context,
                           const v1::ListGoldensRequest* request,
                           v1::ListGoldensResponse* reply) override;
  grpc::Status Receipt(grpc::ServerContext* context,
                       const v1::ReceiptRequest* request,
                       v1::ReceiptResponse* reply) override;
  grpc::Status VerifyReceipt(grpc::ServerContext* context,
                             const v1::VerifyReceiptRequest* request,
                             v1::VerifyReceiptResponse* reply) override;
  grpc::Status Resume(grpc::ServerContext* context,
                      const v1::ResumeRequest* request,
                      v1::Experiment* reply) override;
  grpc::Status LookupTuning(grpc::ServerContext* context,
                            const v1::LookupTuningRequest* request,
                            v1::LookupTuningResponse* reply) override;
  grpc::Status ListTunings(grpc::ServerContext* context,
                           const v1::ListTuningsRequest* request,
                           v1::ListTuningsResponse* reply) override;

  grpc::Status Query(grpc::ServerContext* context,
                     const v1::QueryRequest* request,
                     grpc::ServerWriter<v1::QueryChunk>* writer) override;
  grpc::Status Trend(grpc::ServerContext* context,
                     const v1::TrendRequest* request,
                     v1::TrendResponse* reply) override;
  grpc::Status ListSeries(grpc::ServerContext* context,
                          const v1::ListSeriesRequest* request,
                          v1::ListSeriesResponse* reply) override;
  grpc::Status ListRegressions(grpc::ServerContext* context,
                               const v1::ListRegressionsRequest* request,
                               v1::ListRegressionsResponse* reply) override;
  grpc::Status Acknowledge(grpc::ServerContext* context,
                           const v1::AcknowledgeRequest* request,
                           v1::Regression* reply) override;
  grpc::Status BitHistory(grpc::ServerContext* context,
                          const v1::BitHistoryRequest* request,
                          v1::BitHistoryResponse* reply) override;

  // Keeps what is uploaded.
  std::map<std::string, std::string> blobs;
  int num_uploads = 0;

  grpc::Status Upload(grpc::ServerContext* context,
                      grpc::ServerReader<v1::UploadChunk>* reader,
                      v1::UploadResponse* reply) override;
  grpc::Status FindBlobs(grpc::ServerContext* context,
                         const v1::FindBlobsRequest* request,
                         v1::FindBlobsResponse* reply) override;

 private:
  grpc::Status take_status();
};

}  // namespace assay::client
