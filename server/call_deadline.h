// Ends a streaming call at its deadline even while it waits for a client that does not read.
#pragma once

#include "grpcpp/server_context.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace assay::server {

class CallDeadline {
 public:
  // Cancels `context` after `limit`, unless this ends before.
  CallDeadline(grpc::ServerContext& context, std::chrono::nanoseconds limit);
  ~CallDeadline();
  CallDeadline(const CallDeadline&) = delete;
  CallDeadline& operator=(const CallDeadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace assay::server
