#include "server/address.h"

#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace assay::server {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kMaxSocketPath = sizeof(sockaddr_un{}.sun_path) - 1;

// Whether somebody accepts connections at the socket.
bool is_live(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return true;
  }
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, kMaxSocketPath);
  const bool refused = connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0 &&
                       errno == ECONNREFUSED;
  close(fd);
  return !refused;
}

}  // namespace

absl::StatusOr<Address> parse_address(std::string_view text) {
  Address address;
  address.text = std::string(text);
  if (text.starts_with(kUnix)) {
    address.socket_path = std::string(text.substr(kUnix.size()));
    if (address.socket_path.empty() || address.socket_path.size() > kMaxSocketPath) {
      return absl::InvalidArgumentError(absl::StrCat("listen address `",
                                                     address.text,
                                                     "`: the path of a socket has 1 to ",
                                                     kMaxSocketPath,
                                                     " bytes"));
    }
    return address;
  }
  const std::size_t colon = text.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(std::string(text.substr(colon + 1)), &port) || port > 65'535) {
    return absl::InvalidArgumentError(
        absl::StrCat("listen address `", address.text, "`: expected unix:PATH or HOST:PORT"));
  }
  address.host = std::string(text.substr(0, colon));
  address.port = static_cast<int>(port);
  if (address.host == "localhost") {
    address.host = "127.0.0.1";
    address.text = absl::StrCat("127.0.0.1:", port);
  }
  if (address.host != "127.0.0.1" && address.host != "[::1]") {
    return absl::FailedPreconditionError(absl::StrCat(
        "listen address `",
        address.text,
        "`: only a unix socket or loopback (127.0.0.1, localhost, [::1]); any other address needs "
        "TLS and tokens, which this version does not have"));
  }
  return address;
}

absl::StatusOr<std::unique_ptr<AddressClaim>> AddressClaim::take(const Address& address) {
  std::unique_ptr<AddressClaim> claim(new AddressClaim(address));
  ASSAY_RETURN_IF_ERROR(address.socket_path.empty() ? claim->probe_port() : claim->lock_socket());
  return claim;
}

absl::Status AddressClaim::lock_socket() {
  const std::string& path = address_.socket_path;
  const std::string lock_path = path + ".lock";
  lock_fd_ = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_fd_ < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", lock_path));
  }
  const auto in_use = [&path] {
    return absl::FailedPreconditionError(
        absl::StrCat("address in use: another daemon listens on unix:", path));
  };
  if (flock(lock_fd_, LOCK_EX | LOCK_NB) != 0) {
    close(std::exchange(lock_fd_, -1));
    return in_use();
  }
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) {
    return absl::OkStatus();
  }
  if (!S_ISSOCK(found.st_mode)) {
    close(std::exchange(lock_fd_, -1));
    return absl::FailedPreconditionError(absl::StrCat(path, " is there and is no socket"));
  }
  if (is_live(path)) {
    close(std::exchange(lock_fd_, -1));
    return in_use();
  }
  unlink(path.c_str());
  return absl::OkStatus();
}

absl::Status AddressClaim::probe_port() const {
  if (address_.port == 0) {
    return absl::OkStatus();
  }
  const bool v6 = address_.host == "[::1]";
  const int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, "socket");
  }
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const auto port = htons(static_cast<std::uint16_t>(address_.port));
  sockaddr_in name4 = {};
  name4.sin_family = AF_INET;
  name4.sin_port = port;
  name4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 name6 = {};
  name6.sin6_family = AF_INET6;
  name6.sin6_port = port;
  name6.sin6_addr = in6addr_loopback;
  const int bound = v6 ? bind(fd, reinterpret_cast<const sockaddr*>(&name6), sizeof(name6))
                       : bind(fd, reinterpret_cast<const sockaddr*>(&name4), sizeof(name4));
  const int error = errno;
  close(fd);
  if (bound != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        error == EADDRINUSE ? "address in use: " : absl::StrCat(std::strerror(error), ": "),
        address_.text));
  }
  return absl::OkStatus();
}

absl::Status AddressClaim::restrict_to_owner() const {
  if (!address_.socket_path.empty() && chmod(address_.socket_path.c_str(), 0600) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("chmod ", address_.socket_path));
  }
  return absl::OkStatus();
}

AddressClaim::~AddressClaim() {
  if (lock_fd_ >= 0) {
    unlink(address_.socket_path.c_str());
    close(lock_fd_);
  }
}

}  // namespace assay::server
