#include "server/http_stream.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace assay::server {
namespace {

// Whether one of `events`, or an error or end, comes before the deadline.
bool poll_until(int socket, short events, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd entry = {.fd = socket, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready >= 0 || errno != EINTR) {
      return ready > 0;
    }
  }
}

}  // namespace

void HttpStream::begin_request() {
  deadline_ = Clock::now() + kRequestBound;
  num_left_ = kMaxRequestBytes;
  is_cut_ = false;
}

bool HttpStream::fill(Clock::time_point deadline) {
  if (!poll_until(socket_, POLLIN, deadline)) {
    return false;
  }
  const ssize_t count = recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  begin_ = 0;
  end_ = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  return count > 0;
}

bool HttpStream::wait_for_request(std::chrono::milliseconds bound) {
  return begin_ < end_ || fill(Clock::now() + bound);
}

bool HttpStream::is_readable() const {
  return begin_ < end_ || poll_until(socket_, POLLIN, deadline_);
}

bool HttpStream::has_left() const {
  pollfd entry = {.fd = socket_, .events = POLLRDHUP, .revents = 0};
  if (poll(&entry, 1, 0) <= 0) {
    return false;
  }
  // The end may be this side's, where no other request is wanted.
  tcp_info info = {};
  socklen_t size = sizeof(info);
  return getsockopt(socket_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
         info.tcpi_state != TCP_ESTABLISHED;
}

bool HttpStream::is_writable() const {
  return !has_left() && poll_until(socket_, POLLOUT, Clock::now() + kWriteBound);
}

ssize_t HttpStream::read(char* bytes, std::size_t size) {
  if (num_left_ == 0 && !is_cut_ && size > 0) {
    // The library finds a line too long only when it ends.
    is_cut_ = true;
    *bytes = '\n';
    return 1;
  }
  if (begin_ == end_ && !fill(deadline_)) {
    return -1;
  }
  const std::size_t count = std::min({size, end_ - begin_, num_left_});
  if (count == 0) {
    return -1;
  }
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), count, bytes);
  begin_ += count;
  num_left_ -= count;
  return static_cast<ssize_t>(count);
}

ssize_t HttpStream::write(const char* bytes, std::size_t size) {
  std::size_t num_sent = 0;
  while (num_sent < size) {
    const ssize_t count =
        send(socket_, bytes + num_sent, size - num_sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      num_sent += static_cast<std::size_t>(count);
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR) ||
               !poll_until(socket_, POLLOUT, Clock::now() + kWriteBound)) {
      return -1;
    }
  }
  return static_cast<ssize_t>(num_sent);
}

// The gateway listens on loopback only: who asks is nobody's name.
void HttpStream::get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}

void HttpStream::get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}

}  // namespace assay::server
