// The daemon, one method per call of the service. No gRPC type leaves its sources.
// Every call ends within a minute, but for watch(), query() and those that carry files.
#pragma once

#include "client/interrupt.h"
#include "client/recorded_file.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <memory>
#include <string>

namespace assay::client {

class Connection {
 public:
  // "unix:PATH" or "HOST:PORT"; INVALID_ARGUMENT shows the form. Connects with the first call.
  static absl::StatusOr<std::unique_ptr<Connection>> open(const std::string& address,
                                                          Interrupter* interrupter);
  virtual ~Connection() = default;

  virtual absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request) = 0;

  // The whole experiment, configuration by configuration when it does not fit into one message.
  virtual absl::StatusOr<v1::Experiment> get(std::int64_t experiment_id, bool with_samples) = 0;

  // Only one configuration, with samples; 1 is the first.
  virtual absl::StatusOr<v1::Experiment> get_configuration(std::int64_t experiment_id,
                                                           std::uint32_t configuration) = 0;
  virtual absl::StatusOr<v1::ListResponse> list(const v1::ListRequest& request) = 0;

  // Calls `visit` with every state until a final one, which is returned. CANCELLED when
  // interrupted.
  virtual absl::StatusOr<v1::Experiment> watch(
      std::int64_t experiment_id, const std::function<void(const v1::Experiment&)>& visit) = 0;
  virtual absl::StatusOr<v1::Experiment> cancel(std::int64_t experiment_id) = 0;
  virtual absl::StatusOr<v1::JudgeResponse> judge(const v1::JudgeRequest& request) = 0;
  virtual absl::StatusOr<v1::ReceiptResponse> receipt(const v1::ReceiptRequest& request) = 0;
  virtual absl::StatusOr<v1::VerifyReceiptResponse> verify_receipt(
      const v1::VerifyReceiptRequest& request) = 0;
  virtual absl::StatusOr<v1::Experiment> resume(std::int64_t experiment_id) = 0;
  virtual absl::StatusOr<v1::LookupTuningResponse> lookup_tuning(
      const v1::LookupTuningRequest& request) = 0;
  virtual absl::StatusOr<v1::ListTuningsResponse> tunings(
      const v1::ListTuningsRequest& request) = 0;
  virtual absl::StatusOr<v1::ListDevicesResponse> devices() = 0;
  virtual absl::StatusOr<v1::ListOperatorsResponse> operators(const std::string& device) = 0;
  virtual absl::StatusOr<v1::AcceptBitsResponse> accept_bits(
      const v1::AcceptBitsRequest& request) = 0;

  virtual absl::StatusOr<v1::FindBlobsResponse> find_blobs(const v1::FindBlobsRequest& request) = 0;

  // Bytes under their digest, in chunks; may take some minutes.
  virtual absl::Status upload(const std::string& digest, const std::string& bytes) = 0;

  virtual absl::StatusOr<v1::TrendResponse> trend(const v1::TrendRequest& request) = 0;
  virtual absl::StatusOr<v1::ListSeriesResponse> list_series(
      const v1::ListSeriesRequest& request) = 0;
  virtual absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest& request) = 0;
  virtual absl::StatusOr<v1::Regression> acknowledge(const v1::AcknowledgeRequest& request) = 0;
  virtual absl::StatusOr<v1::BitHistoryResponse> bit_history(
      const v1::BitHistoryRequest& request) = 0;

  // All pages.
  virtual absl::StatusOr<v1::ListGoldensResponse> goldens(v1::ListGoldensRequest request) = 0;

  // Calls `visit` with every entry of an archive until it fails.
  virtual absl::Status export_archive(
      const v1::ExportRequest& request,
      const std::function<absl::Status(const v1::ArchiveEntry&)>& visit) = 0;
  // `next` fills the next entry; false after the last. Its error ends the call.
  virtual absl::StatusOr<v1::ImportArchiveResponse> import_archive(
      const std::function<absl::StatusOr<bool>(v1::ArchiveEntry&)>& next) = 0;
  // Calls `visit` with every piece of a copy of the database until it fails.
  virtual absl::Status back_up(
      const std::function<absl::Status(const v1::BackupChunk&)>& visit) = 0;
  virtual absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest& request) = 0;

  // Gives what was stored. INVALID_ARGUMENT names a row that is larger than a chunk may be.
  virtual absl::StatusOr<v1::Recording> import_recording(const RecordedFile& file) = 0;
  virtual absl::StatusOr<v1::ListRecordingsResponse> recordings() = 0;

  // Calls `visit` with every chunk, in order. CANCELLED when interrupted.
  virtual absl::Status query(const v1::QueryRequest& request,
                             const std::function<void(const v1::QueryChunk&)>& visit) = 0;

  // All rows; recording_id 0 is the newest.
  virtual absl::StatusOr<RecordedFile> recording(std::int64_t recording_id) = 0;
};

}  // namespace assay::client
