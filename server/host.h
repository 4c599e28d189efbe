// The gRPC server of the daemon: its addresses, limits, health and reflection, and its bounded end.
#pragma once

#include "server/address.h"
#include "server/call_counts.h"
#include "server/goldens.h"
#include "server/scheduler.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace grpc {
class Server;
class Service;
}  // namespace grpc

namespace assay::server {

inline constexpr std::chrono::milliseconds kCancelGrace{1'000};

class Host {
 public:
  // Listens on all of the addresses or on none. FAILED_PRECONDITION: one is in use. Calls are
  // counted in `counts`.
  static absl::StatusOr<std::unique_ptr<Host>> listen(const std::vector<Address>& addresses,
                                                      Scheduler& scheduler,
                                                      const Goldens& goldens,
                                                      CallCounts& counts);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host();

  // As clients name them; a port 0 is replaced by the one that was chosen.
  const std::vector<std::string>& addresses() const { return names_; }

  // Lets calls end until `grace` is over, then cancels them. DEADLINE_EXCEEDED: one is still there
  // kCancelGrace later, as gRPC waits without end for the socket of a client that stopped reading.
  // Then what calls use must not be destroyed: the process is to end.
  absl::Status shut_down(std::chrono::milliseconds grace);

 private:
  Host();

  std::vector<std::unique_ptr<AddressClaim>> claims_;
  std::unique_ptr<grpc::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> names_;
};

}  // namespace assay::server
