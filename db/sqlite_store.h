// The store on SQLite: the lock, the writer thread and the readers of one file. Its methods are in
// store_*.cpp by concern; none of them keeps state of its own.
#pragma once

#include "db/file_id.h"
#include "db/file_lock.h"
#include "db/readers.h"
#include "db/store.h"
#include "db/writer.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::db {

class SqliteStore final : public Store {
 public:
  SqliteStore(FileLock lock,
              std::unique_ptr<Connection> connection,
              const std::string& path,
              std::int64_t read_deadline_ns)
      : path_(path),
        file_(FileId::of(path)),
        lock_(std::move(lock)),
        writer_(std::move(connection)),
        readers_(path, read_deadline_ns) {}

  absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request,
                                        std::uint32_t num_configurations,
                                        std::int64_t now_ns) override;
  absl::StatusOr<v1::Experiment> get(const v1::GetRequest& request) const override;
  absl::StatusOr<v1::ListResponse> list(const v1::ListRequest& request) const override;
  absl::Status start(std::int64_t experiment_id,
                     const v1::Device& device,
                     std::int64_t now_ns) override;
  absl::Status add_configuration(std::int64_t experiment_id,
                                 const v1::Configuration& configuration) override;
  absl::Status finish(std::int64_t experiment_id,
                      v1::TaskState state,
                      const std::string& message,
                      std::int64_t now_ns) override;
  absl::StatusOr<int> interrupt_running(std::int64_t now_ns) override;
  absl::StatusOr<std::vector<v1::Experiment>> queued() const override;
  absl::StatusOr<std::int64_t> typical_configuration_ns(
      const v1::ExperimentSpec& spec) const override;
  absl::StatusOr<v1::AcceptBitsResponse> accept_bits(std::vector<v1::Golden> goldens,
                                                     std::int64_t now_ns) override;
  absl::StatusOr<v1::ListGoldensResponse> goldens(
      const v1::ListGoldensRequest& request) const override;
  absl::StatusOr<std::optional<std::string>> golden_digest(const v1::Golden& key) const override;
  absl::Status add_verdict(std::int64_t experiment_id,
                           std::uint32_t configuration,
                           const v1::Verdict& verdict) override;
  absl::Status set_noise_floor(const v1::NoiseFloor& floor) override;
  absl::StatusOr<std::optional<v1::NoiseFloor>> noise_floor(
      const v1::NoiseFloor& key) const override;
  absl::Status resume(std::int64_t experiment_id) override;
  absl::Status set_tuning(const v1::Tuning& tuning) override;
  absl::StatusOr<std::vector<v1::Tuning>> tunings(
      const v1::ListTuningsRequest& request) const override;
  absl::StatusOr<std::string> newest_code_digest(const v1::Tuning& tuning) const override;
  absl::Status add_blob(const std::string& digest,
                        const std::string& bytes,
                        std::int64_t now_ns) override;
  absl::StatusOr<std::string> blob(const std::string& digest) const override;
  absl::StatusOr<bool> has_blob(const std::string& digest) const override;
  absl::StatusOr<std::int64_t> add_recording(const v1::Recording& recording,
                                             const std::vector<v1::RecordedRow>& rows) override;
  absl::StatusOr<std::vector<v1::Recording>> recordings() const override;
  absl::StatusOr<v1::GetRecordingResponse> recording(
      const v1::GetRecordingRequest& request) const override;
  absl::StatusOr<v1::ImportedExperiment> add_archived(const v1::Experiment& experiment) override;
  absl::Status back_up(const std::string& path) const override;

  std::string path() const override { return path_; }

  absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest& request) override;
  absl::StatusOr<std::vector<v1::Ceiling>> ceilings(const std::string& device_uuid) const override;
  absl::StatusOr<Figures> figures() const override;
  absl::Status check_file() const override;
  absl::Status query(const v1::QueryRequest& request, const QueryCaller& caller) const override;

  absl::Status add_measured(std::int64_t experiment_id,
                            const v1::Configuration& configuration,
                            const std::vector<SeriesEntry>& points) override;
  absl::StatusOr<std::vector<ConfigurationKey>> pending_points(std::uint32_t most) const override;
  absl::Status add_points(const ConfigurationKey& key,
                          const std::vector<SeriesEntry>& points) override;
  absl::StatusOr<v1::ListSeriesResponse> list_series(
      const v1::ListSeriesRequest& request) const override;
  absl::StatusOr<std::vector<v1::Series>> find_series(const v1::Series& wanted,
                                                      const std::string& device) const override;
  absl::StatusOr<v1::Series> series(std::int64_t series_id) const override;
  absl::StatusOr<std::vector<v1::SeriesPoint>> points(const PointsRequest& request) const override;
  absl::StatusOr<std::vector<v1::Golden>> epochs_of(const std::string& operator_name,
                                                    const std::string& workload) const override;
  absl::StatusOr<std::vector<std::int64_t>> stale_series(std::uint32_t most) const override;
  absl::Status update_series(const SeriesUpdate& update) override;
  absl::Status set_regression(const v1::Regression& regression) override;
  absl::StatusOr<v1::Regression> regression(std::int64_t regression_id) const override;
  absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest& request) const override;
  absl::StatusOr<v1::BitHistoryResponse> bit_history(
      const v1::BitHistoryRequest& request) const override;

  absl::StatusOr<std::vector<std::pair<std::int64_t, std::string>>> request_ids() const override;

 private:
  const std::string path_;
  const std::optional<FileId> file_;
  // Destroyed in reverse: readers, the writer (which empties the log), then the lock.
  FileLock lock_;
  Writer writer_;
  mutable Readers readers_;
};

}  // namespace assay::db
