#include "client/daemon_stub.h"

#include "proto/rpc_status.h"

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

#include <utility>

namespace assay::client {

DaemonStub::DaemonStub(std::string address, Interrupter* interrupter)
    : address_(std::move(address)), interrupter_(interrupter) {
  grpc::ChannelArguments arguments;
  // A proxy of the environment must not see what stays on this machine.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  stub_ = v1::Assay::NewStub(
      grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments));
}

absl::Status DaemonStub::explain(const grpc::Status& status) const {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::UnavailableError(
        absl::StrCat("no daemon answers at ",
                     address_,
                     " (",
                     status.error_message(),
                     "); start one with `assayd --db FILE`, or name another with --address"));
  }
  return proto::from_grpc(status);
}

}  // namespace assay::client
