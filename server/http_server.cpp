#include "server/http_server.h"

#include "server/http_guard.h"
#include "server/http_stream.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include <array>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace assay::server {
namespace {

constexpr std::chrono::milliseconds kDrainBound{500};

// cpp-httplib would also set SO_REUSEPORT, and then a second daemon would share the port.
void set_options(int socket) {
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

bool accepts_gzip(const std::string& accepted) {
  const std::string plain = absl::StrReplaceAll(absl::AsciiStrToLower(accepted), {{" ", ""}});
  for (const std::string& coding : std::vector<std::string>(absl::StrSplit(plain, ','))) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(coding, absl::MaxSplits(';', 1));
    if (parts.first == "gzip") {
      double quality = 0;
      return parts.second.empty() ||
             (parts.second.starts_with("q=") &&
              absl::SimpleAtod(parts.second.substr(2), &quality) && quality > 0);
    }
  }
  return false;
}

// What the library would do with them is not wanted: answers in ranges, and brotli at its slowest.
// Its own headers are none of the request's.
void simplify(httplib::Request& request) {
  const std::string accepted = request.get_header_value("Accept-Encoding");
  for (const char* name : {"Range",
                           "Expect",
                           "Accept-Encoding",
                           "REMOTE_ADDR",
                           "REMOTE_PORT",
                           "LOCAL_ADDR",
                           "LOCAL_PORT"}) {
    request.headers.erase(name);
  }
  request.ranges.clear();
  if (accepts_gzip(accepted)) {
    request.set_header("Accept-Encoding", "gzip");
  }
}

// Tells of each connection before it waits for a thread.
class Pool final : public httplib::ThreadPool {
 public:
  // Of no type, or bool: the library's versions differ.
  using Taken = decltype(std::declval<httplib::ThreadPool&>().enqueue(nullptr));

  explicit Pool(std::function<void()> on_connection)
      : ThreadPool(kHttpThreads), on_connection_(std::move(on_connection)) {}

  Taken enqueue(std::function<void()> serve) override {
    on_connection_();
    return ThreadPool::enqueue(std::move(serve));
  }

 private:
  const std::function<void()> on_connection_;
};

// Reads what still comes, so that closing does not take the answer back.
void drain(int socket, HttpStream& stream) {
  shutdown(socket, SHUT_WR);
  const auto end = std::chrono::steady_clock::now() + kDrainBound;
  std::array<char, 4096> chunk;
  while (std::chrono::steady_clock::now() < end && stream.wait_for_request(kDrainBound)) {
    stream.begin_request();
    stream.read(chunk.data(), chunk.size());
  }
}

}  // namespace

HttpServer::HttpServer() {
  set_socket_options(set_options);
  // What it tells the client; serve() keeps it.
  set_keep_alive_timeout(kIdleBound.count());
  set_keep_alive_max_count(kMaxHttpRequests);
  new_task_queue = [this] {
    return new Pool([this] {
      const std::lock_guard lock(mutex_);
      ++num_queued_;
      make_room();
    });
  };
}

HttpServer::~HttpServer() {
  shut_down(std::chrono::milliseconds(0));
}

absl::StatusOr<int> HttpServer::bind(const Address& address) {
  const std::string host = address.host == "[::1]" ? "::1" : address.host;
  const int port = address.port == 0                  ? bind_to_any_port(host)
                   : bind_to_port(host, address.port) ? address.port
                                                      : -1;
  if (port <= 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot listen on ", address.text, ": in use or not permitted"));
  }
  // The library lets five connections wait to be accepted; one more would try again in a second.
  ::listen(svr_sock_, SOMAXCONN);
  return port;
}

bool HttpServer::has_left(const httplib::Request& request) {
  return request.progress && !request.progress(0, 0);
}

void HttpServer::start() {
  thread_ = std::thread([this] { listen_after_bind(); });
}

void HttpServer::shut_down(std::chrono::milliseconds grace) {
  const int listening = svr_sock_.exchange(INVALID_SOCKET);
  if (listening == INVALID_SOCKET) {
    return;
  }
  shutdown(listening, SHUT_RDWR);
  {
    std::unique_lock lock(mutex_);
    ending_ = true;
    for (const int socket : open_) {
      shutdown(socket, SHUT_RD);
    }
    closed_.wait_for(lock, grace, [this] { return open_.empty(); });
    for (const int socket : open_) {
      shutdown(socket, SHUT_RDWR);
    }
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  close(listening);
}

bool HttpServer::process_and_close_socket(socket_t socket) {
  bool serves = false;
  {
    const std::lock_guard lock(mutex_);
    serves = !ending_;
    --num_queued_;
    open_.insert(socket);
  }
  if (serves) {
    // A runner that starts now must not hold the connection.
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    serve(socket);
  }
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, socket);
  open_.erase(socket);
  cut_.erase(socket);
  close(socket);
  closed_.notify_all();
  return true;
}

void HttpServer::set_waiting(int socket, bool waits) {
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, socket);
  if (waits && !cut_.contains(socket)) {
    waiting_.push_back(socket);
    make_room();
  }
}

// Under the lock. A request that is there already is still read and answered.
void HttpServer::make_room() {
  while (!waiting_.empty() && num_queued_ + open_.size() - cut_.size() > kHttpThreads) {
    shutdown(waiting_.front(), SHUT_RD);
    cut_.insert(waiting_.front());
    waiting_.pop_front();
  }
}

void HttpServer::serve(int socket) {
  HttpStream stream(socket);
  bool is_last = false;
  set_waiting(socket, true);
  for (std::size_t i = 1; !is_last && stream.wait_for_request(kIdleBound); ++i) {
    stream.begin_request();
    {
      const std::lock_guard lock(mutex_);
      is_last = ending_ || i == kMaxHttpRequests || open_.size() > kMaxKeptAlive;
    }
    bool asked_to_close = false;
    bool is_read = false;
    const bool is_written =
        process_request(stream, is_last, asked_to_close, [&](httplib::Request& request) {
          is_read = true;
          set_waiting(socket, false);
          // Where the next request would begin is not known after a body.
          is_last |= has_body(request) || request.version == "HTTP/1.0";
          simplify(request);
          if (is_last) {
            // Then the library says so in its answer.
            request.headers.erase("Connection");
            request.set_header("Connection", "close");
          }
          // A field that the library uses in its client alone: false ends what is asked for.
          request.progress = [&stream](auto, auto) { return !stream.has_left(); };
        });
    is_last |= asked_to_close || !is_read || !is_written;
    set_waiting(socket, true);
  }
  drain(socket, stream);
}

}  // namespace assay::server
