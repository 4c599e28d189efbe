#include "proto/status.h"
#include "proto/text.h"
#include "server/assay_service.h"
#include "server/call_log.h"
#include "server/service_parts.h"

#include "absl/strings/str_cat.h"

#include <chrono>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kWatchBound{500};
constexpr std::uint32_t kMaxPageSize = 1'000;

// Whole states until a final one; a slow reader misses those in between.
absl::Status follow(Scheduler& scheduler,
                    std::int64_t experiment_id,
                    const grpc::ServerContext& context,
                    grpc::ServerWriter<v1::Experiment>& writer) {
  std::uint64_t seen = 0;
  while (!context.IsCancelled()) {
    ASSAY_ASSIGN_OR_RETURN(Scheduler::Update update,
                           scheduler.next_state(experiment_id, seen, kWatchBound));
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

}  // namespace

grpc::Status AssayService::Submit(grpc::ServerContext* context,
                                  const v1::SubmitRequest* request,
                                  v1::Experiment* reply) {
  const CallLog log("Submit");
  const absl::Status status = take(scheduler_.submit(*request, context->deadline()), *reply);
  return log.done(status, reply->experiment_id());
}

grpc::Status AssayService::Get(grpc::ServerContext* /*context*/,
                               const v1::GetRequest* request,
                               v1::Experiment* reply) {
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

grpc::Status AssayService::List(grpc::ServerContext* /*context*/,
                                const v1::ListRequest* request,
                                v1::ListResponse* reply) {
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

grpc::Status AssayService::Watch(grpc::ServerContext* context,
                                 const v1::WatchRequest* request,
                                 grpc::ServerWriter<v1::Experiment>* writer) {
  const CallLog log("Watch");
  absl::Status status = check_id(request->experiment_id());
  if (status.ok()) {
    status = follow(scheduler_, request->experiment_id(), *context, *writer);
  }
  return log.done(status, request->experiment_id());
}

grpc::Status AssayService::Cancel(grpc::ServerContext* /*context*/,
                                  const v1::CancelRequest* request,
                                  v1::Experiment* reply) {
  const CallLog log("Cancel");
  absl::Status status = check_id(request->experiment_id());
  if (status.ok()) {
    status = take(scheduler_.cancel(request->experiment_id()), *reply);
  }
  return log.done(status, request->experiment_id());
}

grpc::Status AssayService::Judge(grpc::ServerContext* /*context*/,
                                 const v1::JudgeRequest* request,
                                 v1::JudgeResponse* reply) {
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

grpc::Status AssayService::Resume(grpc::ServerContext* /*context*/,
                                  const v1::ResumeRequest* request,
                                  v1::Experiment* reply) {
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

grpc::Status AssayService::Receipt(grpc::ServerContext* /*context*/,
                                   const v1::ReceiptRequest* request,
                                   v1::ReceiptResponse* reply) {
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

grpc::Status AssayService::VerifyReceipt(grpc::ServerContext* /*context*/,
                                         const v1::VerifyReceiptRequest* request,
                                         v1::VerifyReceiptResponse* reply) {
  const CallLog log("VerifyReceipt");
  return log.done(take(scheduler_.verify_receipt(*request), *reply));
}

}  // namespace assay::server
