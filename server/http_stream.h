// A connection's bytes for cpp-httplib, with bounds that it has not: on the time and the size of a
// whole request, not of each read.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <httplib.h>
#include <string>

namespace assay::server {

inline constexpr std::chrono::seconds kRequestBound{10};   // until the last header is there
inline constexpr std::size_t kMaxRequestBytes = 32 << 10;  // of the request line and the headers
inline constexpr std::chrono::seconds kWriteBound{5};      // without a byte taken by the client

class HttpStream final : public httplib::Stream {
 public:
  // Borrows the socket.
  explicit HttpStream(int socket) : socket_(socket) {}

  // A request is expected: its bounds begin.
  void begin_request();

  // Waits for its first byte. False: none in time, or the client is gone.
  bool wait_for_request(std::chrono::milliseconds bound);

  bool is_readable() const override;
  // Whether the client closed its end, also behind bytes that are not read yet.
  bool has_left() const;

  // Whether the client is still there and takes bytes.
  bool is_writable() const override;
  ssize_t read(char* bytes, std::size_t size) override;
  // All of it, or -1.
  ssize_t write(const char* bytes, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;

  int socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool fill(Clock::time_point deadline);

  const int socket_;
  Clock::time_point deadline_;
  std::size_t num_left_ = 0;  // of the request's bytes
  bool is_cut_ = false;       // none were left: a line end was given instead
  std::array<char, 4096> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace assay::server
