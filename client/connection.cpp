#include "client/connection.h"

#include "client/daemon_stub.h"
#include "client/daemon_uploads.h"
#include "proto/assay.grpc.pb.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace assay::client {
namespace {

constexpr std::chrono::minutes kPruneDeadline{10};

bool is_final(v1::TaskState state) {
  return state >= v1::DONE;
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(const std::string& address, Interrupter* interrupter)
      : daemon_(address, interrupter) {}

  absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request) override {
    return daemon_.call<v1::Experiment>(&v1::Assay::Stub::Submit, request);
  }

  absl::StatusOr<v1::Experiment> get(std::int64_t experiment_id, bool with_samples) override {
    v1::GetRequest request;
    request.set_experiment_id(experiment_id);
    auto whole = daemon_.call<v1::Experiment>(&v1::Assay::Stub::Get, request);
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
    return daemon_.call<v1::Experiment>(&v1::Assay::Stub::Get, request);
  }

  absl::StatusOr<v1::ListResponse> list(const v1::ListRequest& request) override {
    return daemon_.call<v1::ListResponse>(&v1::Assay::Stub::List, request);
  }

  absl::StatusOr<v1::Experiment> watch(
      std::int64_t experiment_id,
      const std::function<void(const v1::Experiment&)>& visit) override {
    v1::WatchRequest request;
    request.set_experiment_id(experiment_id);
    v1::Experiment experiment;
    grpc::ClientContext context;
    const grpc::Status status =
        daemon_.read_all(context, *daemon_.stub().Watch(&context, request), experiment, visit);
    if (is_final(experiment.state())) {
      return experiment;
    }
    if (!status.ok()) {
      return daemon_.explain(status);
    }
    return absl::UnavailableError("the daemon ended the stream before the experiment ended");
  }

  absl::StatusOr<v1::Experiment> cancel(std::int64_t experiment_id) override {
    v1::CancelRequest request;
    request.set_experiment_id(experiment_id);
    return daemon_.call<v1::Experiment>(&v1::Assay::Stub::Cancel, request);
  }

  absl::StatusOr<v1::JudgeResponse> judge(const v1::JudgeRequest& request) override {
    return daemon_.call<v1::JudgeResponse>(&v1::Assay::Stub::Judge, request);
  }

  absl::StatusOr<v1::ReceiptResponse> receipt(const v1::ReceiptRequest& request) override {
    return daemon_.call<v1::ReceiptResponse>(&v1::Assay::Stub::Receipt, request);
  }

  absl::StatusOr<v1::VerifyReceiptResponse> verify_receipt(
      const v1::VerifyReceiptRequest& request) override {
    return daemon_.call<v1::VerifyReceiptResponse>(&v1::Assay::Stub::VerifyReceipt, request);
  }

  absl::StatusOr<v1::Experiment> resume(std::int64_t experiment_id) override {
    v1::ResumeRequest request;
    request.set_experiment_id(experiment_id);
    return daemon_.call<v1::Experiment>(&v1::Assay::Stub::Resume, request);
  }

  absl::StatusOr<v1::LookupTuningResponse> lookup_tuning(
      const v1::LookupTuningRequest& request) override {
    return daemon_.call<v1::LookupTuningResponse>(&v1::Assay::Stub::LookupTuning, request);
  }

  absl::StatusOr<v1::ListTuningsResponse> tunings(const v1::ListTuningsRequest& request) override {
    return daemon_.call<v1::ListTuningsResponse>(&v1::Assay::Stub::ListTunings, request);
  }

  absl::StatusOr<v1::ListDevicesResponse> devices() override {
    return daemon_.call<v1::ListDevicesResponse>(&v1::Assay::Stub::ListDevices,
                                                 v1::ListDevicesRequest());
  }

  absl::StatusOr<v1::ListOperatorsResponse> operators(const std::string& device) override {
    v1::ListOperatorsRequest request;
    request.set_device(device);
    return daemon_.call<v1::ListOperatorsResponse>(&v1::Assay::Stub::ListOperators, request);
  }

  absl::StatusOr<v1::AcceptBitsResponse> accept_bits(
      const v1::AcceptBitsRequest& request) override {
    return daemon_.call<v1::AcceptBitsResponse>(&v1::Assay::Stub::AcceptBits, request);
  }

  absl::StatusOr<v1::FindBlobsResponse> find_blobs(const v1::FindBlobsRequest& request) override {
    return daemon_.call<v1::FindBlobsResponse>(&v1::Assay::Stub::FindBlobs, request);
  }

  absl::Status upload(const std::string& digest, const std::string& bytes) override {
    return upload_blob(daemon_, digest, bytes);
  }

  absl::StatusOr<v1::TrendResponse> trend(const v1::TrendRequest& request) override {
    return daemon_.call<v1::TrendResponse>(&v1::Assay::Stub::Trend, request);
  }

  absl::StatusOr<v1::ListSeriesResponse> list_series(
      const v1::ListSeriesRequest& request) override {
    return daemon_.call<v1::ListSeriesResponse>(&v1::Assay::Stub::ListSeries, request);
  }

  absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest& request) override {
    return daemon_.call<v1::ListRegressionsResponse>(&v1::Assay::Stub::ListRegressions, request);
  }

  absl::StatusOr<v1::Regression> acknowledge(const v1::AcknowledgeRequest& request) override {
    return daemon_.call<v1::Regression>(&v1::Assay::Stub::Acknowledge, request);
  }

  absl::StatusOr<v1::BitHistoryResponse> bit_history(
      const v1::BitHistoryRequest& request) override {
    return daemon_.call<v1::BitHistoryResponse>(&v1::Assay::Stub::BitHistory, request);
  }

  absl::StatusOr<v1::ListGoldensResponse> goldens(v1::ListGoldensRequest request) override {
    v1::ListGoldensResponse all;
    do {
      ASSAY_ASSIGN_OR_RETURN(
          const v1::ListGoldensResponse page,
          daemon_.call<v1::ListGoldensResponse>(&v1::Assay::Stub::ListGoldens, request));
      all.mutable_goldens()->MergeFrom(page.goldens());
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty());
    return all;
  }

  absl::StatusOr<v1::Recording> import_recording(const RecordedFile& file) override {
    return upload_recording(daemon_, file);
  }

  absl::Status export_archive(
      const v1::ExportRequest& request,
      const std::function<absl::Status(const v1::ArchiveEntry&)>& visit) override {
    return daemon_.stream<v1::ArchiveEntry>(&v1::Assay::Stub::Export, request, visit);
  }

  absl::StatusOr<v1::ImportArchiveResponse> import_archive(
      const std::function<absl::StatusOr<bool>(v1::ArchiveEntry&)>& next) override {
    return upload_archive(daemon_, next);
  }

  absl::Status back_up(const std::function<absl::Status(const v1::BackupChunk&)>& visit) override {
    return daemon_.stream<v1::BackupChunk>(&v1::Assay::Stub::Backup, v1::BackupRequest(), visit);
  }

  absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest& request) override {
    return daemon_.call<v1::PruneResponse>(&v1::Assay::Stub::Prune, request, kPruneDeadline);
  }

  absl::StatusOr<v1::ListRecordingsResponse> recordings() override {
    return daemon_.call<v1::ListRecordingsResponse>(&v1::Assay::Stub::ListRecordings,
                                                    v1::ListRecordingsRequest());
  }

  absl::Status query(const v1::QueryRequest& request,
                     const std::function<void(const v1::QueryChunk&)>& visit) override {
    v1::QueryChunk chunk;
    grpc::ClientContext context;
    const grpc::Status status =
        daemon_.read_all(context, *daemon_.stub().Query(&context, request), chunk, visit);
    return status.ok() ? absl::OkStatus() : daemon_.explain(status);
  }

  absl::StatusOr<RecordedFile> recording(std::int64_t recording_id) override {
    RecordedFile file;
    v1::GetRecordingRequest request;
    request.set_recording_id(recording_id);
    do {
      ASSAY_ASSIGN_OR_RETURN(
          v1::GetRecordingResponse page,
          daemon_.call<v1::GetRecordingResponse>(&v1::Assay::Stub::GetRecording, request));
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
  absl::StatusOr<v1::Experiment> get_in_parts(v1::GetRequest request, bool with_samples) {
    request.set_include_samples(with_samples);
    request.set_configuration(1);
    ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment,
                           daemon_.call<v1::Experiment>(&v1::Assay::Stub::Get, request));
    // The newest may be another one by the next call.
    request.set_experiment_id(experiment.experiment_id());
    for (std::uint32_t i = 2; i <= experiment.num_finished(); ++i) {
      request.set_configuration(i);
      ASSAY_ASSIGN_OR_RETURN(v1::Experiment part,
                             daemon_.call<v1::Experiment>(&v1::Assay::Stub::Get, request));
      experiment.mutable_configurations()->MergeFrom(part.configurations());
    }
    return experiment;
  }

  DaemonStub daemon_;
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
