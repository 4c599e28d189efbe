#include "server/service.h"

#include "proto/rpc_status.h"
#include "proto/status.h"
#include "proto/text.h"
#include "server/call_deadline.h"
#include "server/log.h"
#include "server/public_status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kWatchBound{500};
constexpr std::chrono::seconds kQueryGrace{2};
constexpr std::uint32_t kMaxPageSize = 1'000;

// One line a call, written when it is answered.
class CallLog {
 public:
  explicit CallLog(std::string_view method)
      : method_(method), start_(std::chrono::steady_clock::now()) {}

  // What is wrong inside stays in the log.
  grpc::Status done(const absl::Status& status, std::int64_t id = 0) const {
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start_;
    log_line("call",
             {{"method", std::string(method_)},
              {"id", absl::StrCat(id)},
              {"outcome", absl::StatusCodeToString(status.code())},
              {"elapsed_ns", absl::StrCat(elapsed.count())},
              {"message", std::string(status.message())}});
    return proto::to_grpc(public_status(status));
  }

 private:
  std::string_view method_;
  std::chrono::steady_clock::time_point start_;
};

// Moves the value out, or keeps the status.
template <class Message>
absl::Status take(absl::StatusOr<Message> result, Message& reply) {
  if (!result.ok()) {
    return result.status();
  }
  reply = *std::move(result);
  return absl::OkStatus();
}

absl::Status check_id(std::int64_t experiment_id) {
  if (experiment_id < 0) {
    return absl::InvalidArgumentError("experiment_id: must not be negative");
  }
  return absl::OkStatus();
}

bool fits(const google::protobuf::Message& message) {
  return message.ByteSizeLong() <= static_cast<std::size_t>(kMaxMessageBytes);
}

// For a client that does not read what its query finds.
std::chrono::nanoseconds query_bound(const v1::QueryRequest& request) {
  const std::int64_t asked_ns =
      request.deadline_ns() > 0 ? request.deadline_ns() : db::kDefaultQueryDeadlineNs;
  return kQueryGrace + std::chrono::nanoseconds(std::min(asked_ns, db::kMaxQueryDeadlineNs));
}

class AssayService final : public v1::Assay::Service {
 public:
  AssayService(Scheduler& scheduler, const Goldens& goldens)
      : scheduler_(scheduler), goldens_(goldens) {}

  grpc::Status Submit(grpc::ServerContext* context,
                      const v1::SubmitRequest* request,
                      v1::Experiment* reply) override {
    const CallLog log("Submit");
    const absl::Status status = take(scheduler_.submit(*request, context->deadline()), *reply);
    return log.done(status, reply->experiment_id());
  }

  grpc::Status Get(grpc::ServerContext* /*context*/,
                   const v1::GetRequest* request,
                   v1::Experiment* reply) override {
    const CallLog log("Get");
    absl::Status status = check_id(request->experiment_id());
    if (status.ok()) {
      status = take(scheduler_.get(*request), *reply);
    }
    if (status.ok() && !fits(*reply)) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("experiment ",
                       reply->experiment_id(),
                       " has ",
                       proto::with_commas(static_cast<std::int64_t>(reply->ByteSizeLong())),
                       " bytes, the limit of a message is ",
                       proto::with_commas(kMaxMessageBytes),
                       ": ask for one configuration"));
      reply->Clear();
    }
    return log.done(status, request->experiment_id());
  }

  grpc::Status List(grpc::ServerContext* /*context*/,
                    const v1::ListRequest* request,
                    v1::ListResponse* reply) override {
    const CallLog log("List");
    if (request->page_size() > kMaxPageSize) {
      return log.done(absl::InvalidArgumentError("page_size: must be in [0, 1,000]"));
    }
    if (!v1::TaskState_IsValid(request->state())) {
      return log.done(absl::InvalidArgumentError("state: is no task state"));
    }
    absl::Status status = take(scheduler_.list(*request), *reply);
    // A page of large experiments is cut: half as many, until they fit.
    v1::ListRequest shorter = *request;
    while (status.ok() && !fits(*reply) && reply->experiments_size() > 1) {
      shorter.set_page_size(static_cast<std::uint32_t>(reply->experiments_size()) / 2);
      status = take(scheduler_.list(shorter), *reply);
    }
    return log.done(status);
  }

  grpc::Status Watch(grpc::ServerContext* context,
                     const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::Experiment>* writer) override {
    const CallLog log("Watch");
    absl::Status status = check_id(request->experiment_id());
    if (status.ok()) {
      status = follow(request->experiment_id(), *context, *writer);
    }
    return log.done(status, request->experiment_id());
  }

  grpc::Status Cancel(grpc::ServerContext* /*context*/,
                      const v1::CancelRequest* request,
                      v1::Experiment* reply) override {
    const CallLog log("Cancel");
    absl::Status status = check_id(request->experiment_id());
    if (status.ok()) {
      status = take(scheduler_.cancel(request->experiment_id()), *reply);
    }
    return log.done(status, request->experiment_id());
  }

  grpc::Status Judge(grpc::ServerContext* /*context*/,
                     const v1::JudgeRequest* request,
                     v1::JudgeResponse* reply) override {
    const CallLog log("Judge");
    absl::Status status = check_id(request->experiment_id());
    if (status.ok()) {
      status = take(scheduler_.judge(*request), *reply);
    }
    if (status.ok() && !fits(*reply)) {
      reply->mutable_experiment()->clear_configurations();
    }
    return log.done(status, request->experiment_id());
  }

  grpc::Status Receipt(grpc::ServerContext* /*context*/,
                       const v1::ReceiptRequest* request,
                       v1::ReceiptResponse* reply) override {
    const CallLog log("Receipt");
    absl::Status status = take(scheduler_.receipt(*request), *reply);
    if (status.ok() && !fits(*reply)) {
      status = absl::ResourceExhaustedError(
          absl::StrCat("the receipt has ",
                       proto::with_commas(static_cast<std::int64_t>(reply->ByteSizeLong())),
                       " bytes, the limit of a message is ",
                       proto::with_commas(kMaxMessageBytes),
                       ": ask for fewer experiments"));
      reply->Clear();
    }
    return log.done(status, request->experiment_ids().empty() ? 0 : request->experiment_ids(0));
  }

  grpc::Status VerifyReceipt(grpc::ServerContext* /*context*/,
                             const v1::VerifyReceiptRequest* request,
                             v1::VerifyReceiptResponse* reply) override {
    const CallLog log("VerifyReceipt");
    return log.done(take(scheduler_.verify_receipt(*request), *reply));
  }

  grpc::Status Resume(grpc::ServerContext* /*context*/,
                      const v1::ResumeRequest* request,
                      v1::Experiment* reply) override {
    const CallLog log("Resume");
    absl::Status status = check_id(request->experiment_id());
    if (status.ok()) {
      status = take(scheduler_.resume(request->experiment_id()), *reply);
    }
    if (status.ok() && !fits(*reply)) {
      reply->clear_configurations();
    }
    return log.done(status, request->experiment_id());
  }

  grpc::Status LookupTuning(grpc::ServerContext* context,
                            const v1::LookupTuningRequest* request,
                            v1::LookupTuningResponse* reply) override {
    const CallLog log("LookupTuning");
    return log.done(take(scheduler_.lookup_tuning(*request, context->deadline()), *reply));
  }

  grpc::Status ListTunings(grpc::ServerContext* context,
                           const v1::ListTuningsRequest* request,
                           v1::ListTuningsResponse* reply) override {
    const CallLog log("ListTunings");
    return log.done(take(scheduler_.tunings(*request, context->deadline()), *reply));
  }

  grpc::Status ListDevices(grpc::ServerContext* context,
                           const v1::ListDevicesRequest* /*request*/,
                           v1::ListDevicesResponse* reply) override {
    const CallLog log("ListDevices");
    *reply = scheduler_.devices(context->deadline());
    return log.done(absl::OkStatus());
  }

  grpc::Status ListOperators(grpc::ServerContext* context,
                             const v1::ListOperatorsRequest* request,
                             v1::ListOperatorsResponse* reply) override {
    const CallLog log("ListOperators");
    auto description = scheduler_.describe(request->device(), context->deadline());
    if (description.ok()) {
      *reply->mutable_operators() = {description->operators.begin(), description->operators.end()};
    }
    return log.done(description.status());
  }

  grpc::Status Import(grpc::ServerContext* /*context*/,
                      grpc::ServerReader<v1::ImportChunk>* reader,
                      v1::Recording* reply) override {
    const CallLog log("Import");
    const auto next = [reader](v1::ImportChunk& chunk) { return reader->Read(&chunk); };
    const absl::Status status = take(scheduler_.recordings().receive(next), *reply);
    return log.done(status, reply->recording_id());
  }

  grpc::Status ListRecordings(grpc::ServerContext* /*context*/,
                              const v1::ListRecordingsRequest* /*request*/,
                              v1::ListRecordingsResponse* reply) override {
    const CallLog log("ListRecordings");
    return log.done(take(scheduler_.recordings().list(), *reply));
  }

  grpc::Status GetRecording(grpc::ServerContext* /*context*/,
                            const v1::GetRecordingRequest* request,
                            v1::GetRecordingResponse* reply) override {
    const CallLog log("GetRecording");
    const absl::Status status =
        take(scheduler_.recordings().get(*request, std::size_t{kMaxMessageBytes}), *reply);
    return log.done(status, request->recording_id());
  }

  grpc::Status Export(grpc::ServerContext* /*context*/,
                      const v1::ExportRequest* request,
                      grpc::ServerWriter<v1::ArchiveEntry>* writer) override {
    const CallLog log("Export");
    return log.done(scheduler_.archive().send(
        *request, kMaxMessageBytes, [writer](const v1::ArchiveEntry& entry) {
          return writer->Write(entry);
        }));
  }

  grpc::Status ImportArchive(grpc::ServerContext* context,
                             grpc::ServerReader<v1::ArchiveEntry>* reader,
                             v1::ImportArchiveResponse* reply) override {
    const CallLog log("ImportArchive");
    const auto next = [context, reader](v1::ArchiveEntry& entry) {
      return reader->Read(&entry) && !context->IsCancelled();
    };
    const absl::Status status = take(scheduler_.archive().receive(next), *reply);
    // Also of an archive that is cut off some are stored.
    scheduler_.history().wake();
    return log.done(status);
  }

  grpc::Status Backup(grpc::ServerContext* /*context*/,
                      const v1::BackupRequest* /*request*/,
                      grpc::ServerWriter<v1::BackupChunk>* writer) override {
    const CallLog log("Backup");
    return log.done(scheduler_.archive().back_up(
        [writer](const v1::BackupChunk& chunk) { return writer->Write(chunk); }));
  }

  grpc::Status Prune(grpc::ServerContext* /*context*/,
                     const v1::PruneRequest* request,
                     v1::PruneResponse* reply) override {
    const CallLog log("Prune");
    return log.done(take(scheduler_.archive().prune(*request), *reply));
  }

  grpc::Status AcceptBits(grpc::ServerContext* context,
                          const v1::AcceptBitsRequest* request,
                          v1::AcceptBitsResponse* reply) override {
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

  grpc::Status ListGoldens(grpc::ServerContext* /*context*/,
                           const v1::ListGoldensRequest* request,
                           v1::ListGoldensResponse* reply) override {
    const CallLog log("ListGoldens");
    return log.done(take(goldens_.list(*request), *reply));
  }

  grpc::Status Trend(grpc::ServerContext* /*context*/,
                     const v1::TrendRequest* request,
                     v1::TrendResponse* reply) override {
    const CallLog log("Trend");
    return log.done(take(scheduler_.trend(*request), *reply), request->series_id());
  }

  grpc::Status ListSeries(grpc::ServerContext* /*context*/,
                          const v1::ListSeriesRequest* request,
                          v1::ListSeriesResponse* reply) override {
    const CallLog log("ListSeries");
    return log.done(take(scheduler_.list_series(*request), *reply));
  }

  grpc::Status ListRegressions(grpc::ServerContext* /*context*/,
                               const v1::ListRegressionsRequest* request,
                               v1::ListRegressionsResponse* reply) override {
    const CallLog log("ListRegressions");
    return log.done(take(scheduler_.list_regressions(*request), *reply));
  }

  grpc::Status Acknowledge(grpc::ServerContext* /*context*/,
                           const v1::AcknowledgeRequest* request,
                           v1::Regression* reply) override {
    const CallLog log("Acknowledge");
    return log.done(take(scheduler_.acknowledge(*request), *reply), request->regression_id());
  }

  grpc::Status BitHistory(grpc::ServerContext* /*context*/,
                          const v1::BitHistoryRequest* request,
                          v1::BitHistoryResponse* reply) override {
    const CallLog log("BitHistory");
    return log.done(take(scheduler_.bit_history(*request), *reply));
  }

  grpc::Status Upload(grpc::ServerContext* /*context*/,
                      grpc::ServerReader<v1::UploadChunk>* reader,
                      v1::UploadResponse* reply) override {
    const CallLog log("Upload");
    return log.done(take(scheduler_.uploads().receive(
                             [reader](v1::UploadChunk& chunk) { return reader->Read(&chunk); }),
                         *reply));
  }

  grpc::Status FindBlobs(grpc::ServerContext* /*context*/,
                         const v1::FindBlobsRequest* request,
                         v1::FindBlobsResponse* reply) override {
    const CallLog log("FindBlobs");
    return log.done(take(scheduler_.uploads().find(*request), *reply));
  }

  grpc::Status Query(grpc::ServerContext* context,
                     const v1::QueryRequest* request,
                     grpc::ServerWriter<v1::QueryChunk>* writer) override {
    const CallLog log("Query");
    const CallDeadline deadline(*context, query_bound(*request));
    return log.done(scheduler_.queries().run(
        *request,
        {.has_left = [context] { return context->IsCancelled(); },
         .write = [writer](const v1::QueryChunk& chunk) { return writer->Write(chunk); }}));
  }

 private:
  // Whole states until a final one; a slow reader misses those in between.
  absl::Status follow(std::int64_t experiment_id,
                      const grpc::ServerContext& context,
                      grpc::ServerWriter<v1::Experiment>& writer) {
    std::uint64_t seen = 0;
    while (!context.IsCancelled()) {
      ASSAY_ASSIGN_OR_RETURN(Scheduler::Update update,
                             scheduler_.next_state(experiment_id, seen, kWatchBound));
      // "The newest" is settled by the first state.
      if (update.changed) {
        experiment_id = update.experiment.experiment_id();
        if (!fits(update.experiment)) {
          update.experiment.clear_configurations();
        }
        if (!writer.Write(update.experiment)) {
          return absl::CancelledError("the client went away");
        }
      }
      if (update.final) {
        return absl::OkStatus();
      }
      seen = update.version;
    }
    return absl::CancelledError("the client went away");
  }

  Scheduler& scheduler_;
  const Goldens& goldens_;
};

}  // namespace

std::unique_ptr<v1::Assay::Service> make_service(Scheduler& scheduler, const Goldens& goldens) {
  return std::make_unique<AssayService>(scheduler, goldens);
}

}  // namespace assay::server
