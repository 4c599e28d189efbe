// The thread that keeps series and regressions up to date: makes points of what was stored without
// them, looks again at series that have new ones, and has regressions run again, each once, while
// its device has nothing else to do. What it does is in the store, so it goes on where it was
// ended.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace assay::server {

class HistoryKeeper {
 public:
  struct Services {
    db::Store* store = nullptr;
    std::function<std::int64_t()> now_ns;
    // Devices as they are now, without waiting for any.
    std::function<v1::ListDevicesResponse()> devices;
    // Queues a re-run behind everything else; the same request twice is one experiment.
    std::function<absl::StatusOr<v1::Experiment>(const v1::SubmitRequest&)> submit;
    bool confirms = true;  // else nothing is run again
  };

  explicit HistoryKeeper(Services services);
  HistoryKeeper(const HistoryKeeper&) = delete;
  HistoryKeeper& operator=(const HistoryKeeper&) = delete;

  ~HistoryKeeper() { stop(); }

  void start();
  // Ends between two steps.
  void stop();

  // Something ended or became idle: look what there is to do. From any thread.
  void wake();

  // False: there was still something to do after `bound`.
  bool wait_until_settled(std::chrono::milliseconds bound) const;

  // As server/regressions.h says, between two steps.
  absl::StatusOr<v1::Regression> acknowledge(const v1::AcknowledgeRequest& request);

 private:
  void work();
  // Whether anything was done.
  absl::StatusOr<bool> step();
  absl::StatusOr<bool> fill_in();
  absl::Status fill_in(const db::ConfigurationKey& key);
  absl::StatusOr<bool> look();

  // By what was measured together.
  using Reruns = std::map<std::string, std::int64_t>;
  absl::StatusOr<bool> confirm();
  absl::StatusOr<bool> confirm(v1::Regression regression, Reruns& reruns);
  absl::StatusOr<bool> run_again(v1::Regression regression, Reruns& reruns);
  bool stopping() const;

  const Services services_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopping_ = false;
  bool woken_ = true;
  bool settled_ = false;
  std::mutex regressions_;  // read, decided and written by one at a time
  std::thread thread_;
};

}  // namespace assay::server
