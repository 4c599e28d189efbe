// How often each method was asked for, and with what outcome, since the daemon began.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace grpc::experimental {
class ServerInterceptorFactoryInterface;
}  // namespace grpc::experimental

namespace assay::server {

// May be used from any thread.
class CallCounts {
 public:
  using Key = std::pair<std::string, std::string>;  // method, code
  using Counts = std::map<Key, std::uint64_t>;

  // Names must come from a closed set: each is a line of the metrics for ever.
  void add(const std::string& method, const std::string& code);
  Counts counts() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;
};

// Counts each call of a gRPC server when its status is sent; `counts` must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> count_calls(
    CallCounts& counts);

}  // namespace assay::server
