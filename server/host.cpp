#include "server/host.h"

#include "proto/status.h"
#include "server/service.h"

#include "absl/strings/str_cat.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/support/server_interceptor.h"

#include <future>
#include <thread>
#include <utility>

namespace assay::server {
namespace {

constexpr int kMaxThreads = 512;

}  // namespace

Host::Host() = default;

Host::~Host() {
  if (server_ != nullptr) {
    static_cast<void>(shut_down(std::chrono::milliseconds(0)));
  }
}

absl::StatusOr<std::unique_ptr<Host>> Host::listen(const std::vector<Address>& addresses,
                                                   Scheduler& scheduler,
                                                   const Goldens& goldens,
                                                   CallCounts& counts) {
  std::unique_ptr<Host> host(new Host());
  for (const Address& address : addresses) {
    ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<AddressClaim> claim, AddressClaim::take(address));
    host->claims_.push_back(std::move(claim));
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  host->service_ = make_service(scheduler, goldens);

  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  grpc::ResourceQuota quota("assayd");
  quota.SetMaxThreads(kMaxThreads);
  builder.SetResourceQuota(quota);
  std::vector<int> ports(addresses.size(), 0);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    builder.AddListeningPort(addresses[i].text, grpc::InsecureServerCredentials(), &ports[i]);
  }
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(count_calls(counts));
  builder.experimental().SetInterceptorCreators(std::move(interceptors));
  builder.RegisterService(host->service_.get());
  host->server_ = builder.BuildAndStart();

  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (host->server_ == nullptr || ports[i] == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot listen on ", addresses[i].text, ": in use or not permitted"));
    }
    ASSAY_RETURN_IF_ERROR(host->claims_[i]->restrict_to_owner());
    host->names_.push_back(addresses[i].socket_path.empty()
                               ? absl::StrCat(addresses[i].host, ":", ports[i])
                               : addresses[i].text);
  }
  return host;
}

absl::Status Host::shut_down(std::chrono::milliseconds grace) {
  std::promise<void> promise;
  const std::future<void> ended = promise.get_future();
  // The server's end waits for gRPC's own threads, which may sit in a poll for many seconds.
  std::thread([server = std::move(server_), grace, promise = std::move(promise)]() mutable {
    server->Shutdown(std::chrono::system_clock::now() + grace);
    server->Wait();
    server.reset();
    promise.set_value();
  }).detach();
  const bool in_time = ended.wait_for(grace + kCancelGrace) == std::future_status::ready;
  claims_.clear();
  if (!in_time) {
    // Left to its calls.
    static_cast<void>(service_.release());
    return absl::DeadlineExceededError("a call, or gRPC itself, has not ended");
  }
  return absl::OkStatus();
}

}  // namespace assay::server
