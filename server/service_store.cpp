#include "server/assay_service.h"
#include "server/call_deadline.h"
#include "server/call_log.h"
#include "server/service_parts.h"

#include <algorithm>
#include <chrono>

namespace assay::server {
namespace {

constexpr std::chrono::seconds kQueryGrace{2};

// For a client that does not read what its query finds.
std::chrono::nanoseconds query_bound(const v1::QueryRequest& request) {
  const std::int64_t asked_ns =
      request.deadline_ns() > 0 ? request.deadline_ns() : db::kDefaultQueryDeadlineNs;
  return kQueryGrace + std::chrono::nanoseconds(std::min(asked_ns, db::kMaxQueryDeadlineNs));
}

}  // namespace

grpc::Status AssayService::Import(grpc::ServerContext* /*context*/,
                                  grpc::ServerReader<v1::ImportChunk>* reader,
                                  v1::Recording* reply) {
  const CallLog log("Import");
  const auto next = [reader](v1::ImportChunk& chunk) { return reader->Read(&chunk); };
  const absl::Status status = take(scheduler_.recordings().receive(next), *reply);
  return log.done(status, reply->recording_id());
}

grpc::Status AssayService::ListRecordings(grpc::ServerContext* /*context*/,
                                          const v1::ListRecordingsRequest* /*request*/,
                                          v1::ListRecordingsResponse* reply) {
  const CallLog log("ListRecordings");
  return log.done(take(scheduler_.recordings().list(), *reply));
}

grpc::Status AssayService::GetRecording(grpc::ServerContext* /*context*/,
                                        const v1::GetRecordingRequest* request,
                                        v1::GetRecordingResponse* reply) {
  const CallLog log("GetRecording");
  const absl::Status status =
      take(scheduler_.recordings().get(*request, std::size_t{kMaxMessageBytes}), *reply);
  return log.done(status, request->recording_id());
}

grpc::Status AssayService::Export(grpc::ServerContext* /*context*/,
                                  const v1::ExportRequest* request,
                                  grpc::ServerWriter<v1::ArchiveEntry>* writer) {
  const CallLog log("Export");
  return log.done(scheduler_.archive().send(
      *request, kMaxMessageBytes, [writer](const v1::ArchiveEntry& entry) {
        return writer->Write(entry);
      }));
}

grpc::Status AssayService::ImportArchive(grpc::ServerContext* context,
                                         grpc::ServerReader<v1::ArchiveEntry>* reader,
                                         v1::ImportArchiveResponse* reply) {
  const CallLog log("ImportArchive");
  const auto next = [context, reader](v1::ArchiveEntry& entry) {
    return reader->Read(&entry) && !context->IsCancelled();
  };
  const absl::Status status = take(scheduler_.archive().receive(next), *reply);
  // Also of an archive that is cut off some are stored.
  scheduler_.history().wake();
  return log.done(status);
}

grpc::Status AssayService::Backup(grpc::ServerContext* /*context*/,
                                  const v1::BackupRequest* /*request*/,
                                  grpc::ServerWriter<v1::BackupChunk>* writer) {
  const CallLog log("Backup");
  return log.done(scheduler_.archive().back_up(
      [writer](const v1::BackupChunk& chunk) { return writer->Write(chunk); }));
}

grpc::Status AssayService::Prune(grpc::ServerContext* /*context*/,
                                 const v1::PruneRequest* request,
                                 v1::PruneResponse* reply) {
  const CallLog log("Prune");
  return log.done(take(scheduler_.archive().prune(*request), *reply));
}

grpc::Status AssayService::Upload(grpc::ServerContext* /*context*/,
                                  grpc::ServerReader<v1::UploadChunk>* reader,
                                  v1::UploadResponse* reply) {
  const CallLog log("Upload");
  return log.done(take(scheduler_.uploads().receive(
                           [reader](v1::UploadChunk& chunk) { return reader->Read(&chunk); }),
                       *reply));
}

grpc::Status AssayService::FindBlobs(grpc::ServerContext* /*context*/,
                                     const v1::FindBlobsRequest* request,
                                     v1::FindBlobsResponse* reply) {
  const CallLog log("FindBlobs");
  return log.done(take(scheduler_.uploads().find(*request), *reply));
}

grpc::Status AssayService::Query(grpc::ServerContext* context,
                                 const v1::QueryRequest* request,
                                 grpc::ServerWriter<v1::QueryChunk>* writer) {
  const CallLog log("Query");
  const CallDeadline deadline(*context, query_bound(*request));
  return log.done(scheduler_.queries().run(
      *request,
      {.has_left = [context] { return context->IsCancelled(); },
       .write = [writer](const v1::QueryChunk& chunk) { return writer->Write(chunk); }}));
}

}  // namespace assay::server
