// Everything assay keeps: experiments, configurations, samples, digests, accepted bits, in one
// SQLite file. Writes run on one writer thread, each in an IMMEDIATE transaction; reads have their
// own connections with a deadline. Every method may be called from any thread. A full disk is
// RESOURCE_EXHAUSTED and leaves what was stored readable.
#pragma once

#include "db/query.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::db {

struct StoreOptions {
  std::string path;  // a file, never ":memory:": readers have connections of their own
  std::int64_t read_deadline_ns = 5'000'000'000;
};

// How much there is.
struct Figures {
  std::map<v1::TaskState, std::int64_t> num_experiments;  // none of a state: it is not there
  std::int64_t database_bytes = 0;                        // without the write-ahead log
};

// A point with the series that it belongs to; ids are the store's.
struct SeriesEntry {
  v1::Series series;
  v1::SeriesPoint point;
};

struct ConfigurationKey {
  std::int64_t experiment_id = 0;
  std::uint32_t configuration = 0;
};

// Points of one series, or of the fastest arm in each experiment.
struct PointsRequest {
  v1::Series series;  // by its id; `best` by what it says of itself
  v1::SeriesOrder order = v1::BY_TIME;
  std::uint32_t max_points = 0;  // the newest in that order
  std::string branch = {};       // empty: all
};

// What looking at a series again gave.
struct SeriesUpdate {
  v1::Series series;                             // as it was read before its points
  std::int64_t since_ns = 0;                     // of the oldest point that was looked at
  std::vector<v1::SeriesEvent> changes = {};     // all of them from there on
  std::vector<v1::Regression> regressions = {};  // new or changed
};

class Store {
 public:
  // Creates or migrates the file and holds it alone until destruction.
  // FAILED_PRECONDITION: held by another daemon (names its pid), or written by a newer version
  // (names both versions), or not an assay database. PERMISSION_DENIED or NOT_FOUND: the path
  // cannot be written.
  static absl::StatusOr<std::unique_ptr<Store>> open(const StoreOptions& options);
  virtual ~Store() = default;

  // Stores a queued experiment. The same request_id with an equal spec returns the stored one;
  // another spec is ALREADY_EXISTS.
  virtual absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request,
                                                std::uint32_t num_configurations,
                                                std::int64_t now_ns) = 0;

  // experiment_id 0 is the newest. NOT_FOUND names the id, or says that there is none.
  virtual absl::StatusOr<v1::Experiment> get(const v1::GetRequest& request) const = 0;

  // Without configurations. INVALID_ARGUMENT for a page token that is not ours.
  virtual absl::StatusOr<v1::ListResponse> list(const v1::ListRequest& request) const = 0;

  // QUEUED -> RUNNING. FAILED_PRECONDITION from any other state.
  virtual absl::Status start(std::int64_t experiment_id,
                             const v1::Device& device,
                             std::int64_t now_ns) = 0;

  // One configuration with everything measured for it, whole or not at all.
  virtual absl::Status add_configuration(std::int64_t experiment_id,
                                         const v1::Configuration& configuration) = 0;

  // QUEUED or RUNNING -> a final state. DONE only when every configuration is stored, else
  // FAILED_PRECONDITION.
  virtual absl::Status finish(std::int64_t experiment_id,
                              v1::TaskState state,
                              const std::string& message,
                              std::int64_t now_ns) = 0;

  // At start: what was RUNNING becomes INTERRUPTED; returns how many. Queued ones stay.
  virtual absl::StatusOr<int> interrupt_running(std::int64_t now_ns) = 0;

  // Queued experiments, oldest first, without configurations.
  virtual absl::StatusOr<std::vector<v1::Experiment>> queued() const = 0;

  // Median time of one finished configuration of experiments with this kind, operator and device;
  // 0: none yet.
  virtual absl::StatusOr<std::int64_t> typical_configuration_ns(
      const v1::ExperimentSpec& spec) const = 0;

  // One new epoch with all of `goldens` (digest, key, reason, figures, experiment_id set); replaced
  // digests are kept.
  virtual absl::StatusOr<v1::AcceptBitsResponse> accept_bits(std::vector<v1::Golden> goldens,
                                                             std::int64_t now_ns) = 0;

  // Accepted epochs only; golden files of the repository are the daemon's.
  virtual absl::StatusOr<v1::ListGoldensResponse> goldens(
      const v1::ListGoldensRequest& request) const = 0;

  // The accepted digest of one key; nullopt when no epoch has it.
  virtual absl::StatusOr<std::optional<std::string>> golden_digest(const v1::Golden& key) const = 0;

  // Judged again: appended to a configuration's verdicts, of which none is overwritten.
  virtual absl::Status add_verdict(std::int64_t experiment_id,
                                   std::uint32_t configuration,
                                   const v1::Verdict& verdict) = 0;

  // Replaces the one of the same device, operator, workload and modes.
  virtual absl::Status set_noise_floor(const v1::NoiseFloor& floor) = 0;

  // The stored A/A noise of the key's device, operator, workload and modes; nullopt: none.
  virtual absl::StatusOr<std::optional<v1::NoiseFloor>> noise_floor(
      const v1::NoiseFloor& key) const = 0;

  // INTERRUPTED, CANCELLED or FAILED -> QUEUED, a SWEEP only. FAILED_PRECONDITION otherwise.
  virtual absl::Status resume(std::int64_t experiment_id) = 0;

  // Replaces the one of the same key.
  virtual absl::Status set_tuning(const v1::Tuning& tuning) = 0;

  // Of an operator (empty: all) and a device model (empty: all), newest first.
  virtual absl::StatusOr<std::vector<v1::Tuning>> tunings(
      const v1::ListTuningsRequest& request) const = 0;

  // The code digest of the newest measurement of a tuning's arm on its workload, whatever the seed,
  // and device; empty: none. One arm may run other code on another workload.
  virtual absl::StatusOr<std::string> newest_code_digest(const v1::Tuning& tuning) const = 0;

  // Bytes by their digest, which the caller vouches for; those that are there stay.
  virtual absl::Status add_blob(const std::string& digest,
                                const std::string& bytes,
                                std::int64_t now_ns) = 0;
  // NOT_FOUND names the digest.
  virtual absl::StatusOr<std::string> blob(const std::string& digest) const = 0;
  virtual absl::StatusOr<bool> has_blob(const std::string& digest) const = 0;

  // Whole or not at all; gives the id.
  virtual absl::StatusOr<std::int64_t> add_recording(const v1::Recording& recording,
                                                     const std::vector<v1::RecordedRow>& rows) = 0;
  virtual absl::StatusOr<std::vector<v1::Recording>> recordings() const = 0;
  // A page of rows; NOT_FOUND names the id.
  virtual absl::StatusOr<v1::GetRecordingResponse> recording(
      const v1::GetRecordingRequest& request) const = 0;

  // A whole experiment of another database in a final state, with its configurations; gives its id
  // here. One with the same request_id, spec and time of submission is here already and left alone;
  // with another one the request_id gets a suffix that its content decides. A re-run that confirms
  // a regression stays one, of regression -1.
  virtual absl::StatusOr<v1::ImportedExperiment> add_archived(const v1::Experiment& experiment) = 0;

  // A copy of the whole database as it is at one moment, in a new file. FAILED_PRECONDITION: the
  // file is there.
  virtual absl::Status back_up(const std::string& path) const = 0;
  // Where the file is, for what has to lie beside it.
  virtual std::string path() const = 0;

  // Experiments in a final state that ended before a time, in batches, so that others write in
  // between. Kept: what accepted bits, tunings, floors, ceilings and open regressions rest on.
  virtual absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest& request) = 0;

  // What the newest BENCH of the device measured; empty: there was none.
  virtual absl::StatusOr<std::vector<v1::Ceiling>> ceilings(
      const std::string& device_uuid) const = 0;

  virtual absl::StatusOr<Figures> figures() const = 0;
  // DATA_LOSS: the path names no file any more, or another one: what is stored now is lost.
  virtual absl::Status check_file() const = 0;
  // As db/query.h says; runs on the caller's thread to its end.
  virtual absl::Status query(const v1::QueryRequest& request, const QueryCaller& caller) const = 0;
  // Series. As add_configuration, with the points that it gives and its bits, in one transaction.
  virtual absl::Status add_measured(std::int64_t experiment_id,
                                    const v1::Configuration& configuration,
                                    const std::vector<SeriesEntry>& points) = 0;
  // Stored configurations that were not made points of, oldest first.
  virtual absl::StatusOr<std::vector<ConfigurationKey>> pending_points(
      std::uint32_t most) const = 0;
  // Of one of them. One that is gone or has its points stays as it is.
  virtual absl::Status add_points(const ConfigurationKey& key,
                                  const std::vector<SeriesEntry>& points) = 0;
  // A page, the most recently measured first.
  virtual absl::StatusOr<v1::ListSeriesResponse> list_series(
      const v1::ListSeriesRequest& request) const = 0;
  // Every series with the fields that `wanted` sets, in the order of their ids; `device` is a name
  // or a uuid, empty: any.
  virtual absl::StatusOr<std::vector<v1::Series>> find_series(const v1::Series& wanted,
                                                              const std::string& device) const = 0;
  // NOT_FOUND names the id.
  virtual absl::StatusOr<v1::Series> series(std::int64_t series_id) const = 0;
  // In the order asked for.
  virtual absl::StatusOr<std::vector<v1::SeriesPoint>> points(
      const PointsRequest& request) const = 0;
  // Accepted epochs with a golden of the operator and the workload, once for each family of bits:
  // epoch, family, reason, experiment_id and accepted_ns, oldest first.
  virtual absl::StatusOr<std::vector<v1::Golden>> epochs_of(const std::string& operator_name,
                                                            const std::string& workload) const = 0;

  // Series with points that were not looked at.
  virtual absl::StatusOr<std::vector<std::int64_t>> stale_series(std::uint32_t most) const = 0;
  // All of it or nothing. A point that came in since the series was read keeps it stale.
  virtual absl::Status update_series(const SeriesUpdate& update) = 0;
  // Replaces the one of its id.
  virtual absl::Status set_regression(const v1::Regression& regression) = 0;
  // NOT_FOUND names the id.
  virtual absl::StatusOr<v1::Regression> regression(std::int64_t regression_id) const = 0;
  // A page, newest first.
  virtual absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest& request) const = 0;

  // A page, those that were new last first.
  virtual absl::StatusOr<v1::BitHistoryResponse> bit_history(
      const v1::BitHistoryRequest& request) const = 0;

  // Of all experiments: the id here and the request_id, by which other databases know them.
  virtual absl::StatusOr<std::vector<std::pair<std::int64_t, std::string>>> request_ids() const = 0;
};

}  // namespace assay::db
