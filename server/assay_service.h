// The methods of the API, by their subject in service_catalogue.cpp, service_experiments.cpp,
// service_history.cpp and service_store.cpp. Each checks its request, makes one call and logs it.
#pragma once

#include "proto/assay.grpc.pb.h"
#include "server/goldens.h"
#include "server/scheduler.h"

namespace assay::server {

class AssayService final : public v1::Assay::Service {
 public:
  AssayService(Scheduler& scheduler, const Goldens& goldens)
      : scheduler_(scheduler), goldens_(goldens) {}

  // Experiments and their receipts.
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
  grpc::Status Resume(grpc::ServerContext* context,
                      const v1::ResumeRequest* request,
                      v1::Experiment* reply) override;
  grpc::Status Receipt(grpc::ServerContext* context,
                       const v1::ReceiptRequest* request,
                       v1::ReceiptResponse* reply) override;
  grpc::Status VerifyReceipt(grpc::ServerContext* context,
                             const v1::VerifyReceiptRequest* request,
                             v1::VerifyReceiptResponse* reply) override;

  // Accepted bits, trends and regressions.
  grpc::Status AcceptBits(grpc::ServerContext* context,
                          const v1::AcceptBitsRequest* request,
                          v1::AcceptBitsResponse* reply) override;
  grpc::Status ListGoldens(grpc::ServerContext* context,
                           const v1::ListGoldensRequest* request,
                           v1::ListGoldensResponse* reply) override;
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

  // Into the store and out of it: recordings, archives, uploads and queries.
  grpc::Status Import(grpc::ServerContext* context,
                      grpc::ServerReader<v1::ImportChunk>* reader,
                      v1::Recording* reply) override;
  grpc::Status ListRecordings(grpc::ServerContext* context,
                              const v1::ListRecordingsRequest* request,
                              v1::ListRecordingsResponse* reply) override;
  grpc::Status GetRecording(grpc::ServerContext* context,
                            const v1::GetRecordingRequest* request,
                            v1::GetRecordingResponse* reply) override;
  grpc::Status Export(grpc::ServerContext* context,
                      const v1::ExportRequest* request,
                      grpc::ServerWriter<v1::ArchiveEntry>* writer) override;
  grpc::Status ImportArchive(grpc::ServerContext* context,
                             grpc::ServerReader<v1::ArchiveEntry>* reader,
                             v1::ImportArchiveResponse* reply) override;
  grpc::Status Backup(grpc::ServerContext* context,
                      const v1::BackupRequest* request,
                      grpc::ServerWriter<v1::BackupChunk>* writer) override;
  grpc::Status Prune(grpc::ServerContext* context,
                     const v1::PruneRequest* request,
                     v1::PruneResponse* reply) override;
  grpc::Status Upload(grpc::ServerContext* context,
                      grpc::ServerReader<v1::UploadChunk>* reader,
                      v1::UploadResponse* reply) override;
  grpc::Status FindBlobs(grpc::ServerContext* context,
                         const v1::FindBlobsRequest* request,
                         v1::FindBlobsResponse* reply) override;
  grpc::Status Query(grpc::ServerContext* context,
                     const v1::QueryRequest* request,
                     grpc::ServerWriter<v1::QueryChunk>* writer) override;

  // What there is to run, and where.
  grpc::Status LookupTuning(grpc::ServerContext* context,
                            const v1::LookupTuningRequest* request,
                            v1::LookupTuningResponse* reply) override;
  grpc::Status ListTunings(grpc::ServerContext* context,
                           const v1::ListTuningsRequest* request,
                           v1::ListTuningsResponse* reply) override;
  grpc::Status ListDevices(grpc::ServerContext* context,
                           const v1::ListDevicesRequest* request,
                           v1::ListDevicesResponse* reply) override;
  grpc::Status ListOperators(grpc::ServerContext* context,
                             const v1::ListOperatorsRequest* request,
                             v1::ListOperatorsResponse* reply) override;

 private:
  Scheduler& scheduler_;
  const Goldens& goldens_;
};

}  // namespace assay::server
