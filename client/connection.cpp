#include "client/connection.h"

#include "proto/assay.grpc.pb.h"
#include "proto/rpc_status.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

#include <chrono>

namespace assay::client {
namespace {

constexpr std::chrono::seconds kCallDeadline{60};
constexpr std::chrono::minutes kUploadDeadline{10};
constexpr std::chrono::minutes kPruneDeadline{10};
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // the most that one may have
constexpr std::size_t kFieldBytes = 8;  // at most, of the tag and the length of a row

bool is_final(v1::TaskState state) {
  return state >= v1::DONE;
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(std::string address, Interrupter* interrupter)
      : address_(std::move(address)), interrupter_(interrupter) {
    grpc::ChannelArguments arguments;
    // A proxy of the environment must not see what stays on this machine.
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::Assay::NewStub(
        grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments));
  }

  absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request) override {
    return call<v1::Experiment>(&v1::Assay::Stub::Submit, request);
  }

  absl::StatusOr<v1::Experiment> get(std::int64_t experiment_id, bool with_samples) override {
    v1::GetRequest request;
    request.set_experiment_id(experiment_id);
    auto whole = call<v1::Experiment>(&v1::Assay::Stub::Get, request);
    if (!whole.ok()) {
      return absl::IsResourceExhausted(whole.status()) ? get_in_parts(request, with_samples)
                                                       : whole;
    }
    if (!with_samples || whole->configurations().empty()) {
      return whole;
    }
    request.set_experiment_id(whole->experiment_id());
    return get_in_parts(request, with_samples);
  }

  absl::StatusOr<v1::Experiment> get_configuration(std::int64_t experiment_id,
                                                   std::uint32_t configuration) override {
    v1::GetRequest request;
    request.set_experiment_id(experiment_id);
    request.set_include_samples(true);
    request.set_configuration(configuration);
    return call<v1::Experiment>(&v1::Assay::Stub::Get, request);
  }

  absl::StatusOr<v1::ListResponse> list(const v1::ListRequest& request) override {
    return call<v1::ListResponse>(&v1::Assay::Stub::List, request);
  }

  absl::StatusOr<v1::Experiment> watch(
      std::int64_t experiment_id,
      const std::function<void(const v1::Experiment&)>& visit) override {
    v1::WatchRequest request;
    request.set_experiment_id(experiment_id);
    v1::Experiment experiment;
    grpc::ClientContext context;
    const grpc::Status status =
        read_all(context, *stub_->Watch(&context, request), experiment, visit);
    if (is_final(experiment.state())) {
      return experiment;
    }
    if (!status.ok()) {
      return explain(status);
    }
    return absl::UnavailableError("the daemon ended the stream before the experiment ended");
  }

  absl::StatusOr<v1::Experiment> cancel(std::int64_t experiment_id) override {
    v1::CancelRequest request;
    request.set_experiment_id(experiment_id);
    return call<v1::Experiment>(&v1::Assay::Stub::Cancel, request);
  }

  absl::StatusOr<v1::JudgeResponse> judge(const v1::JudgeRequest& request) override {
    return call<v1::JudgeResponse>(&v1::Assay::Stub::Judge, request);
  }

  absl::StatusOr<v1::ReceiptResponse> receipt(const v1::ReceiptRequest& request) override {
    return call<v1::ReceiptResponse>(&v1::Assay::Stub::Receipt, request);
  }

  absl::StatusOr<v1::VerifyReceiptResponse> verify_receipt(
      const v1::VerifyReceiptRequest& request) override {
    return call<v1::VerifyReceiptResponse>(&v1::Assay::Stub::VerifyReceipt, request);
  }

  absl::StatusOr<v1::Experiment> resume(std::int64_t experiment_id) override {
    v1::ResumeRequest request;
    request.set_experiment_id(experiment_id);
    return call<v1::Experiment>(&v1::Assay::Stub::Resume, request);
  }

  absl::StatusOr<v1::LookupTuningResponse> lookup_tuning(
      const v1::LookupTuningRequest& request) override {
    return call<v1::LookupTuningResponse>(&v1::Assay::Stub::LookupTuning, request);
  }

  absl::StatusOr<v1::ListTuningsResponse> tunings(const v1::ListTuningsRequest& request) override {
    return call<v1::ListTuningsResponse>(&v1::Assay::Stub::ListTunings, request);
  }

  absl::StatusOr<v1::ListDevicesResponse> devices() override {
    return call<v1::ListDevicesResponse>(&v1::Assay::Stub::ListDevices, v1::ListDevicesRequest());
  }

  absl::StatusOr<v1::ListOperatorsResponse> operators(const std::string& device) override {
    v1::ListOperatorsRequest request;
    request.set_device(device);
    return call<v1::ListOperatorsResponse>(&v1::Assay::Stub::ListOperators, request);
  }

  absl::StatusOr<v1::AcceptBitsResponse> accept_bits(
      const v1::AcceptBitsRequest& request) override {
    return call<v1::AcceptBitsResponse>(&v1::Assay::Stub::AcceptBits, request);
  }

  absl::StatusOr<v1::FindBlobsResponse> find_blobs(const v1::FindBlobsRequest& request) override {
    return call<v1::FindBlobsResponse>(&v1::Assay::Stub::FindBlobs, request);
  }

  absl::Status upload(const std::string& digest, const std::string& bytes) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kUploadDeadline);
    v1::UploadResponse response;
    const std::unique_ptr<grpc::ClientWriter<v1::UploadChunk>> writer =
        stub_->Upload(&context, &response);
    v1::UploadChunk chunk;
    chunk.set_digest(digest);
    chunk.set_num_bytes(static_cast<std::int64_t>(bytes.size()));
    // One chunk also for no bytes; a daemon that refuses does not read the rest.
    bool is_read = true;
    for (std::size_t begin = 0; is_read && (begin == 0 || begin < bytes.size());
         begin += kChunkBytes) {
      chunk.set_data(bytes.substr(begin, kChunkBytes));
      is_read = writer->Write(chunk);
      chunk.Clear();
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    return status.ok() ? absl::OkStatus() : explain(status);
  }

  absl::StatusOr<v1::TrendResponse> trend(const v1::TrendRequest& request) override {
    return call<v1::TrendResponse>(&v1::Assay::Stub::Trend, request);
  }

  absl::StatusOr<v1::ListSeriesResponse> list_series(
      const v1::ListSeriesRequest& request) override {
    return call<v1::ListSeriesResponse>(&v1::Assay::Stub::ListSeries, request);
  }

  absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest& request) override {
    return call<v1::ListRegressionsResponse>(&v1::Assay::Stub::ListRegressions, request);
  }

  absl::StatusOr<v1::Regression> acknowledge(const v1::AcknowledgeRequest& request) override {
    return call<v1::Regression>(&v1::Assay::Stub::Acknowledge, request);
  }

  absl::StatusOr<v1::BitHistoryResponse> bit_history(
      const v1::BitHistoryRequest& request) override {
    return call<v1::BitHistoryResponse>(&v1::Assay::Stub::BitHistory, request);
  }

  absl::StatusOr<v1::ListGoldensResponse> goldens(v1::ListGoldensRequest request) override {
    v1::ListGoldensResponse all;
    do {
      ASSAY_ASSIGN_OR_RETURN(const v1::ListGoldensResponse page,
                             call<v1::ListGoldensResponse>(&v1::Assay::Stub::ListGoldens, request));
      all.mutable_goldens()->MergeFrom(page.goldens());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return all;
  }

  absl::StatusOr<v1::Recording> import_recording(const RecordedFile& file) override {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
    v1::Recording stored;
    const auto writer = stub_->Import(&context, &stored);
    v1::ImportChunk chunk;
    *chunk.mutable_recording() = file.recording;
    std::size_t num_bytes = chunk.ByteSizeLong();
    // A write that fails has its reason in the status at the end.
    bool goes_on = true;
    for (const v1::RecordedRow& row : file.rows) {
      const std::size_t row_bytes = row.ByteSizeLong() + kFieldBytes;
      if (num_bytes + row_bytes > kChunkBytes) {
        goes_on = goes_on && writer->Write(chunk);
        chunk.Clear();
        num_bytes = 0;
      }
      if (row_bytes > kChunkBytes) {
        context.TryCancel();
        static_cast<void>(writer->Finish());
        return absl::InvalidArgumentError(absl::StrCat(
            "row ", row.row(), ": has ", row_bytes, " bytes, the limit is ", kChunkBytes));
      }
      *chunk.add_rows() = row;
      num_bytes += row_bytes;
    }
    if (goes_on && writer->Write(chunk)) {
      writer->WritesDone();
    }
    const grpc::Status status = writer->Finish();
    return status.ok() ? absl::StatusOr<v1::Recording>(stored) : explain(status);
  }

  absl::Status export_archive(
      const v1::ExportRequest& request,
      const std::function<absl::Status(const v1::ArchiveEntry&)>& visit) override {
    return stream<v1::ArchiveEntry>(&v1::Assay::Stub::Export, request, visit);
  }

  absl::StatusOr<v1::ImportArchiveResponse> import_archive(
      const std::function<absl::StatusOr<bool>(v1::ArchiveEntry&)>& next) override {
    grpc::ClientContext context;
    v1::ImportArchiveResponse response;
    const std::unique_ptr<grpc::ClientWriter<v1::ArchiveEntry>> writer =
        stub_->ImportArchive(&context, &response);
    v1::ArchiveEntry entry;
    for (;;) {
      const absl::StatusOr<bool> is_there = next(entry);
      if (!is_there.ok()) {
        context.TryCancel();
        static_cast<void>(writer->Finish());
        return is_there.status();
      }
      if (!*is_there || !writer->Write(entry)) {
        break;
      }
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    return status.ok() ? absl::StatusOr<v1::ImportArchiveResponse>(response) : explain(status);
  }

  absl::Status back_up(const std::function<absl::Status(const v1::BackupChunk&)>& visit) override {
    return stream<v1::BackupChunk>(&v1::Assay::Stub::Backup, v1::BackupRequest(), visit);
  }

  absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest& request) override {
    return call<v1::PruneResponse>(&v1::Assay::Stub::Prune, request, kPruneDeadline);
  }

  absl::StatusOr<v1::ListRecordingsResponse> recordings() override {
    return call<v1::ListRecordingsResponse>(&v1::Assay::Stub::ListRecordings,
                                            v1::ListRecordingsRequest());
  }

  absl::Status query(const v1::QueryRequest& request,
                     const std::function<void(const v1::QueryChunk&)>& visit) override {
    v1::QueryChunk chunk;
    grpc::ClientContext context;
    const grpc::Status status = read_all(context, *stub_->Query(&context, request), chunk, visit);
    return status.ok() ? absl::OkStatus() : explain(status);
  }

  absl::StatusOr<RecordedFile> recording(std::int64_t recording_id) override {
    RecordedFile file;
    v1::GetRecordingRequest request;
    request.set_recording_id(recording_id);
    do {
      ASSAY_ASSIGN_OR_RETURN(
          v1::GetRecordingResponse page,
          call<v1::GetRecordingResponse>(&v1::Assay::Stub::GetRecording, request));
      if (page.rows().empty() && page.recording().num_rows() > file.rows.size()) {
        return absl::UnavailableError("the daemon sent fewer rows than the recording has");
      }
      file.recording = page.recording();
      for (v1::RecordedRow& row : *page.mutable_rows()) {
        request.set_after_row(row.row());
        file.rows.push_back(std::move(row));
      }
      // The newest may be another one by the next call.
      request.set_recording_id(file.recording.recording_id());
    } while (file.rows.size() < file.recording.num_rows());
    return file;
  }

 private:
  // Ctrl-C ends it; `message` is the last that came.
  template <typename Message>
  grpc::Status read_all(grpc::ClientContext& context,
                        grpc::ClientReader<Message>& reader,
                        Message& message,
                        const std::function<void(const Message&)>& visit) {
    if (interrupter_ != nullptr) {
      interrupter_->arm([&context] { context.TryCancel(); });
    }
    while (reader.Read(&message)) {
      visit(message);
    }
    // Nobody may cancel a context that ends here.
    if (interrupter_ != nullptr) {
      interrupter_->disarm();
    }
    return reader.Finish();
  }

  // Every message to `visit`, until it fails.
  template <typename Message, typename Method, typename Request>
  absl::Status stream(Method method,
                      const Request& request,
                      const std::function<absl::Status(const Message&)>& visit) {
    grpc::ClientContext context;
    const std::unique_ptr<grpc::ClientReader<Message>> reader =
        (stub_.get()->*method)(&context, request);
    Message message;
    while (reader->Read(&message)) {
      if (absl::Status visited = visit(message); !visited.ok()) {
        context.TryCancel();
        static_cast<void>(reader->Finish());
        return visited;
      }
    }
    const grpc::Status status = reader->Finish();
    return status.ok() ? absl::OkStatus() : explain(status);
  }

  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> call(Method method,
                             const Request& request,
                             std::chrono::seconds deadline = kCallDeadline) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    Reply reply;
    const grpc::Status status = (stub_.get()->*method)(&context, request, &reply);
    if (!status.ok()) {
      return explain(status);
    }
    return reply;
  }

  absl::Status explain(const grpc::Status& status) const {
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      return absl::UnavailableError(
          absl::StrCat("no daemon answers at ",
                       address_,
                       " (",
                       status.error_message(),
                       "); start one with `assayd --db FILE`, or name another with --address"));
    }
    return proto::from_grpc(status);
  }

  absl::StatusOr<v1::Experiment> get_in_parts(v1::GetRequest request, bool with_samples) {
    request.set_include_samples(with_samples);
    request.set_configuration(1);
    ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment,
                           call<v1::Experiment>(&v1::Assay::Stub::Get, request));
    // The newest may be another one by the next call.
    request.set_experiment_id(experiment.experiment_id());
    for (std::uint32_t i = 2; i <= experiment.num_finished(); ++i) {
      request.set_configuration(i);
      ASSAY_ASSIGN_OR_RETURN(v1::Experiment part,
                             call<v1::Experiment>(&v1::Assay::Stub::Get, request));
      experiment.mutable_configurations()->MergeFrom(part.configurations());
    }
    return experiment;
  }

  std::string address_;
  Interrupter* interrupter_;
  std::unique_ptr<v1::Assay::Stub> stub_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::open(const std::string& address,
                                                             Interrupter* interrupter) {
  const bool is_path = address.starts_with("unix:") && address.size() > 5;
  const std::size_t colon = address.rfind(':');
  const bool is_port = !address.starts_with("unix:") && colon != std::string::npos && colon > 0 &&
                       colon + 1 < address.size() &&
                       address.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!is_path && !is_port) {
    return absl::InvalidArgumentError(
        absl::StrCat("address `", address, "`: expected unix:PATH or HOST:PORT"));
  }
  return std::make_unique<GrpcConnection>(address, interrupter);
}

}  // namespace assay::client
