// cpp-httplib's server with bounds: on connections, requests and their end. Every socket that is
// open is known, so that none of them, idle or stuck, outlives shut_down(), and none whose request
// does not come keeps others waiting for a thread.
#pragma once

#include "server/address.h"

#include "absl/status/statusor.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <httplib.h>
#include <mutex>
#include <set>
#include <thread>

namespace assay::server {

inline constexpr std::size_t kHttpThreads = 64;
inline constexpr std::size_t kMaxKeptAlive = 32;        // past that many connections none is kept
inline constexpr std::size_t kMaxHttpRequests = 1'000;  // of one connection
inline constexpr std::chrono::seconds kIdleBound{5};

class HttpServer final : public httplib::Server {
 public:
  HttpServer();
  ~HttpServer() override;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The port. FAILED_PRECONDITION: in use.
  absl::StatusOr<int> bind(const Address& address);

  // Whether the client of a request that is being handled closed its end, or was cut off.
  static bool has_left(const httplib::Request& request);

  // Serves on threads of its own. Handlers are set before.
  void start();

  // Nothing is accepted or read any more; answers are written until `grace` is over. Returns when
  // no handler runs.
  void shut_down(std::chrono::milliseconds grace);

 private:
  bool process_and_close_socket(socket_t socket) override;
  void serve(int socket);
  void set_waiting(int socket, bool waits);
  void make_room();

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable closed_;
  std::size_t num_queued_ = 0;  // connections without a thread
  std::set<int> open_;          // those with one
  std::deque<int> waiting_;     // of these, without a request to answer; the one that began first
  std::set<int> cut_;           // of these, told to end
  bool ending_ = false;
};

}  // namespace assay::server
