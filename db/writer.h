// The one thread that writes. Each job runs in an IMMEDIATE transaction of its own and its caller
// waits for the commit; a job that fails leaves nothing behind. A power cut may lose the last
// commits, never the soundness of the file; the death of the process loses nothing committed. The
// write-ahead log is emptied into the database when nobody waits.
#pragma once

#include "db/connection.h"

#include "absl/status/status.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace assay::db {

class Writer {
 public:
  using Job = std::function<absl::Status(Connection&)>;

  explicit Writer(std::unique_ptr<Connection> connection);
  // Finishes what is queued. No call may be in run() by then.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // From any thread but the writer's own.
  absl::Status run(const Job& job);

 private:
  struct Ticket {
    const Job* job;
    absl::Status status;
    bool done = false;
  };

  void work();
  absl::Status transact(const Job& job);

  std::unique_ptr<Connection> connection_;  // of the thread alone
  std::mutex mutex_;
  std::condition_variable queued_;
  std::condition_variable finished_;
  std::deque<Ticket*> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace assay::db
