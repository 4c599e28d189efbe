// The daemon's service over gRPC: how a call of it is made, and how its errors are told.
#pragma once

#include "client/interrupt.h"
#include "proto/assay.grpc.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace assay::client {

constexpr std::chrono::seconds kCallDeadline{60};

class DaemonStub {
 public:
  // `address` has passed the checks of Connection::open(). `interrupter` may be null.
  DaemonStub(std::string address, Interrupter* interrupter);

  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> call(Method method,
                             const Request& request,
                             std::chrono::seconds deadline = kCallDeadline) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    Reply reply;
    const grpc::Status status = (stub_.get()->*method)(&context, request, &reply);
    if (!status.ok()) {
      return explain(status);
    }
    return reply;
  }

  // Ctrl-C ends it; `message` is the last that came.
  template <typename Message>
  grpc::Status read_all(grpc::ClientContext& context,
                        grpc::ClientReader<Message>& reader,
                        Message& message,
                        const std::function<void(const Message&)>& visit) {
    if (interrupter_ != nullptr) {
      interrupter_->arm([&context] { context.TryCancel(); });
    }
    while (reader.Read(&message)) {
      visit(message);
    }
    // Nobody may cancel a context that ends here.
    if (interrupter_ != nullptr) {
      interrupter_->disarm();
    }
    return reader.Finish();
  }

  // Every message to `visit`, until it fails.
  template <typename Message, typename Method, typename Request>
  absl::Status stream(Method method,
                      const Request& request,
                      const std::function<absl::Status(const Message&)>& visit) {
    grpc::ClientContext context;
    const std::unique_ptr<grpc::ClientReader<Message>> reader =
        (stub_.get()->*method)(&context, request);
    Message message;
    while (reader->Read(&message)) {
      if (absl::Status visited = visit(message); !visited.ok()) {
        context.TryCancel();
        static_cast<void>(reader->Finish());
        return visited;
      }
    }
    const grpc::Status status = reader->Finish();
    return status.ok() ? absl::OkStatus() : explain(status);
  }

  // UNAVAILABLE says how to start a daemon; other errors are the daemon's own.
  absl::Status explain(const grpc::Status& status) const;

  v1::Assay::Stub& stub() { return *stub_; }

 private:
  std::string address_;
  Interrupter* interrupter_;
  std::unique_ptr<v1::Assay::Stub> stub_;
};

}  // namespace assay::client
