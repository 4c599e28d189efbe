#include "db/readers.h"

#include "proto/status.h"

#include <chrono>

namespace assay::db {
namespace {

constexpr std::size_t kMaxIdle = 16;

std::int64_t steady_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Readers::begin() {
  std::unique_ptr<Connection> connection;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (connection == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(connection, Connection::open(path_, Connection::Mode::kRead));
  }
  connection->set_deadline_ns(steady_now_ns() + deadline_ns_);
  ASSAY_RETURN_IF_ERROR(connection->execute("BEGIN"));
  return connection;
}

void Readers::end(std::unique_ptr<Connection> connection) {
  connection->set_deadline_ns(0);
  // One that cannot end its transaction is closed with it.
  if (connection->in_transaction() && !connection->execute("ROLLBACK").ok()) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) {
    idle_.push_back(std::move(connection));
  }
}

}  // namespace assay::db
