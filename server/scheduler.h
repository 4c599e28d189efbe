// Experiments of all devices: a queue and a worker for each device, one experiment on a device at a
// time, each configuration stored as it is finished. Live figures (queue position, estimate,
// progress) are laid over what the store holds. Every method may be called from any thread.
#pragma once

#include "db/store.h"
#include "proto/config.pb.h"
#include "server/archive.h"
#include "server/board.h"
#include "server/device_worker.h"
#include "server/goldens.h"
#include "server/history_keeper.h"
#include "server/queries.h"
#include "server/recordings.h"
#include "server/uploads.h"
#include "server/validator.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace assay::server {

inline constexpr std::chrono::seconds kCancelBound{10};
inline constexpr std::chrono::seconds kDescribeBound{30};

struct SchedulerOptions {
  v1::DaemonConfig config;  // as parse_config gives it
  std::string runner;       // of devices that name none, and of the validator
  std::function<std::int64_t()> now_ns;
  std::int64_t max_upload_bytes = kDefaultMaxUploadBytes;
  std::vector<std::string> modules = {};       // files of the module folder
  std::vector<std::string> runner_flags = {};  // of the devices' runners, not of the validator
  bool confirms = true;                        // runs regressions again
};

class Scheduler {
 public:
  using Deadline = std::chrono::system_clock::time_point;

  Scheduler(db::Store& store, const Goldens& goldens, const SchedulerOptions& options);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  // Marks what ran as interrupted, takes up the queue and starts the workers.
  absl::Status start();

  // Kills what runs, marks it INTERRUPTED, and ends the workers; queued experiments stay queued.
  void stop();

  // Waits for the device's first description, but not past `deadline` or kDescribeBound.
  absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest& request, Deadline deadline);
  absl::StatusOr<v1::Experiment> get(const v1::GetRequest& request) const;
  absl::StatusOr<v1::ListResponse> list(const v1::ListRequest& request) const;

  // A running one is killed; returns when it has ended, or its state after kCancelBound.
  absl::StatusOr<v1::Experiment> cancel(std::int64_t experiment_id);

  struct Update {
    std::uint64_t version = 0;
    bool changed = false;  // else `experiment` is unset
    bool final = false;
    v1::Experiment experiment = {};  // without samples
  };

  // The state after version `seen` (0: any), or an unchanged Update after `bound`. UNAVAILABLE once
  // the daemon stops and the experiment is not final.
  absl::StatusOr<Update> next_state(std::int64_t experiment_id,
                                    std::uint64_t seen,
                                    std::chrono::milliseconds bound) const;

  // As server/judging.h says.
  absl::StatusOr<v1::JudgeResponse> judge(const v1::JudgeRequest& request);

  // As server/bits.h says, of an experiment whose device and operator are still known.
  absl::StatusOr<v1::AcceptBitsResponse> accept_bits(const v1::AcceptBitsRequest& request,
                                                     Deadline deadline);

  // As server/receipt.h says.
  absl::StatusOr<v1::ReceiptResponse> receipt(const v1::ReceiptRequest& request) const;
  absl::StatusOr<v1::VerifyReceiptResponse> verify_receipt(
      const v1::VerifyReceiptRequest& request) const;

  // What clients keep here for experiments to come.
  Uploads& uploads() { return uploads_; }

  // Whole experiments in and out, copies, and what goes; needs no device.
  Archive& archive() { return archive_; }

  // What other tools measured; needs no device.
  Recordings& recordings() { return recordings_; }

  // SQL of people; needs no device.
  Queries& queries() { return queries_; }

  // Waits for runners that have not answered yet, but not past `deadline` or kDescribeBound.
  v1::ListDevicesResponse devices(Deadline deadline) const;

  // As proto/assay.proto says.
  absl::StatusOr<v1::Experiment> resume(std::int64_t experiment_id);
  absl::StatusOr<v1::LookupTuningResponse> lookup_tuning(const v1::LookupTuningRequest& request,
                                                         Deadline deadline);
  // Every entry, stale ones marked where their device is here.
  absl::StatusOr<v1::ListTuningsResponse> tunings(const v1::ListTuningsRequest& request,
                                                  Deadline deadline);

  // As proto/assay.proto says; axes that a request leaves out have the defaults of an operator that
  // is known here.
  absl::StatusOr<v1::TrendResponse> trend(const v1::TrendRequest& request) const;
  absl::StatusOr<v1::ListSeriesResponse> list_series(const v1::ListSeriesRequest& request) const;

  absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest& request) const;
  absl::StatusOr<v1::Regression> acknowledge(const v1::AcknowledgeRequest& request);
  absl::StatusOr<v1::BitHistoryResponse> bit_history(const v1::BitHistoryRequest& request) const;

  // Series and regressions, kept up to date in the background.
  HistoryKeeper& history() { return history_; }

  // What the device's runner said. NOT_FOUND lists the devices; FAILED_PRECONDITION says why a
  // device is not available. Empty: the first available device.
  absl::StatusOr<Description> describe(const std::string& device, Deadline deadline);

  // UNAVAILABLE: not started, or stopped. DATA_LOSS: the database's file is another one. Else what
  // is wrong with the database.
  absl::Status health() const;

  absl::StatusOr<db::Figures> figures() const { return store_.figures(); }

 private:
  absl::StatusOr<Description> describe_at(const std::string& path,
                                          const std::string& device,
                                          Deadline deadline);
  absl::Status take_up_queue();
  // Checked but for its limits, which are those of whoever asks.
  absl::StatusOr<v1::Experiment> enqueue(const v1::SubmitRequest& request, Deadline deadline);

  db::Store& store_;
  const Goldens& goldens_;
  Archive archive_;
  Recordings recordings_;
  Queries queries_;
  const std::function<std::int64_t()> now_ns_;
  Board board_;
  Validator validator_;
  Uploads uploads_;
  std::atomic<bool> started_ = false;
  std::mutex submitting_;  // keeps the store's order and the queue's the same
  HistoryKeeper history_;
  std::vector<std::unique_ptr<DeviceWorker>> workers_;
};

bool is_final(v1::TaskState state);

}  // namespace assay::server
