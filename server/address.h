// Where the daemon may listen: a Unix socket, or loopback TCP. Anything else is refused, with the
// reason.
#pragma once

#include "absl/status/statusor.h"

#include <memory>
#include <string>
#include <string_view>

namespace assay::server {

struct Address {
  std::string text;         // as gRPC takes it: "unix:/run/x.sock", "127.0.0.1:7070"
  std::string socket_path;  // of a Unix socket, else empty
  std::string host;         // else
  int port = 0;             // 0: any free one
};

// INVALID_ARGUMENT shows the forms; FAILED_PRECONDITION for an address that is not loopback.
absl::StatusOr<Address> parse_address(std::string_view text);

// Holds an address against other daemons from before it is bound until destruction, when a Unix
// socket is removed. A lock file beside the socket stays.
class AddressClaim {
 public:
  // FAILED_PRECONDITION: in use. A socket that nobody listens on is removed; what is no socket is
  // left alone and refused.
  static absl::StatusOr<std::unique_ptr<AddressClaim>> take(const Address& address);
  ~AddressClaim();
  AddressClaim(const AddressClaim&) = delete;
  AddressClaim& operator=(const AddressClaim&) = delete;

  // After the socket is bound: only its owner may connect.
  absl::Status restrict_to_owner() const;

 private:
  explicit AddressClaim(Address address) : address_(std::move(address)) {}

  absl::Status lock_socket();
  absl::Status probe_port() const;

  const Address address_;
  int lock_fd_ = -1;
};

}  // namespace assay::server
