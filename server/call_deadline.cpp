#include "server/call_deadline.h"

namespace assay::server {

CallDeadline::CallDeadline(grpc::ServerContext& context, std::chrono::nanoseconds limit)
    : thread_([this, &context, end = std::chrono::steady_clock::now() + limit] {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_until(lock, end, [this] { return has_ended_; })) {
          context.TryCancel();
        }
      }) {}

CallDeadline::~CallDeadline() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace assay::server
