// The HTTP gateway: the read methods as JSON, event streams, metrics, health and the dashboard, on
// a loopback address. Nothing that it serves changes anything.
#pragma once

#include "server/address.h"
#include "server/call_counts.h"
#include "server/goldens.h"
#include "server/http_files.h"
#include "server/http_target.h"
#include "server/scheduler.h"
#include "server/service.h"

#include "absl/status/statusor.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace httplib {
struct Request;
struct Response;
}  // namespace httplib

namespace assay::server {

class HttpGuard;
class HttpServer;

// Open event streams, at most; each holds a thread, of which others stay free.
inline constexpr int kMaxHttpStreams = 16;

// Chosen by --http. FAILED_PRECONDITION for anything but a loopback HOST:PORT.
absl::StatusOr<Address> parse_http_address(const std::string& text);

struct GatewayOptions {
  Address address;
  std::vector<std::string> host_names = {};  // as HttpGuard takes them
  std::string dashboards = {};               // folder of the page; empty: none
  std::string version = {};                  // of the daemon
  std::int64_t start_ns = 0;
};

class HttpGateway {
 public:
  // FAILED_PRECONDITION: the port is in use. The others must outlive it; `grpc_calls` is shown.
  static absl::StatusOr<std::unique_ptr<HttpGateway>> listen(const GatewayOptions& options,
                                                             Scheduler& scheduler,
                                                             const Goldens& goldens,
                                                             const CallCounts& grpc_calls);
  HttpGateway(const HttpGateway&) = delete;
  HttpGateway& operator=(const HttpGateway&) = delete;
  ~HttpGateway();

  // "127.0.0.1:8080": a port 0 is replaced by the one that was chosen.
  const std::string& address() const { return address_; }

  // After Scheduler::stop(), which ends the event streams. Answers are written until `grace` is
  // over; then connections are cut.
  void shut_down(std::chrono::milliseconds grace);

 private:
  HttpGateway(const GatewayOptions& options,
              Scheduler& scheduler,
              const Goldens& goldens,
              const CallCounts& grpc_calls);

  void set_handlers();
  void handle(const httplib::Request& request, httplib::Response& response);
  HttpAnswer answer(const httplib::Request& request, const HttpTarget& target) const;
  HttpAnswer health() const;
  HttpAnswer metrics() const;
  void watch(const httplib::Request& request, const Query& query, httplib::Response& response);

  const std::string version_;
  const std::int64_t start_ns_;
  const HttpFiles files_;
  Scheduler& scheduler_;
  const CallCounts& grpc_calls_;
  const std::unique_ptr<v1::Assay::Service> service_;
  CallCounts requests_;
  std::atomic<int> num_streams_ = 0;
  std::string address_;
  std::unique_ptr<const HttpGuard> guard_;
  // Last: its threads use the others.
  std::unique_ptr<HttpServer> server_;
};

}  // namespace assay::server
