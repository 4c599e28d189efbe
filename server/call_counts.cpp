#include "server/call_counts.h"

#include "proto/rpc_status.h"

#include "grpcpp/support/server_interceptor.h"

#include <string_view>

namespace assay::server {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerInterceptorFactoryInterface;
using grpc::experimental::ServerRpcInfo;

class CountingInterceptor final : public Interceptor {
 public:
  CountingInterceptor(CallCounts& counts, std::string method)
      : counts_(counts), method_(std::move(method)) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      const absl::Status status = proto::from_grpc(methods->GetSendStatus());
      counts_.add(method_, absl::StatusCodeToString(status.code()));
    }
    methods->Proceed();
  }

 private:
  CallCounts& counts_;
  const std::string method_;
};

class CountingFactory final : public ServerInterceptorFactoryInterface {
 public:
  explicit CountingFactory(CallCounts& counts) : counts_(counts) {}

  // gRPC owns it. Methods that no service has never come here.
  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    const std::string_view name(info->method());
    return new CountingInterceptor(counts_, std::string(name.substr(name.rfind('/') + 1)));
  }

 private:
  CallCounts& counts_;
};

}  // namespace

void CallCounts::add(const std::string& method, const std::string& code) {
  const std::lock_guard lock(mutex_);
  ++counts_[{method, code}];
}

CallCounts::Counts CallCounts::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::unique_ptr<ServerInterceptorFactoryInterface> count_calls(CallCounts& counts) {
  return std::make_unique<CountingFactory>(counts);
}

}  // namespace assay::server
