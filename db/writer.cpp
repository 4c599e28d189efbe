#include "db/writer.h"

#include "proto/status.h"

#include <chrono>
#include <utility>

namespace assay::db {
namespace {

constexpr std::chrono::milliseconds kIdle{200};

}  // namespace

Writer::Writer(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)), thread_([this] { work(); }) {}

Writer::~Writer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  queued_.notify_one();
  thread_.join();
}

absl::Status Writer::run(const Job& job) {
  Ticket ticket{&job, absl::OkStatus()};
  std::unique_lock lock(mutex_);
  queue_.push_back(&ticket);
  queued_.notify_one();
  finished_.wait(lock, [&] { return ticket.done; });
  return ticket.status;
}

void Writer::work() {
  bool has_worked = false;
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto has_work = [&] { return stopping_ || !queue_.empty(); };
    if (has_worked && !queued_.wait_for(lock, kIdle, has_work)) {
      // Nobody waits now: move the log into the database. What readers still need stays in it.
      lock.unlock();
      static_cast<void>(connection_->execute("PRAGMA wal_checkpoint(PASSIVE)"));
      lock.lock();
    }
    queued_.wait(lock, has_work);
    if (queue_.empty()) {
      return;
    }
    Ticket* const ticket = queue_.front();
    queue_.pop_front();
    lock.unlock();
    absl::Status status = transact(*ticket->job);
    has_worked = true;
    lock.lock();
    ticket->status = std::move(status);
    ticket->done = true;
    finished_.notify_all();
  }
}

absl::Status Writer::transact(const Job& job) {
  ASSAY_RETURN_IF_ERROR(connection_->execute("BEGIN IMMEDIATE"));
  absl::Status status = job(*connection_);
  if (status.ok()) {
    status = connection_->execute("COMMIT");
  }
  // A full disk may have rolled back already.
  if (!status.ok() && connection_->in_transaction()) {
    static_cast<void>(connection_->execute("ROLLBACK"));
  }
  return status;
}

}  // namespace assay::db
