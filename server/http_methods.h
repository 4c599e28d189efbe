// The read methods that the HTTP gateway serves as proto JSON: one line each in http_methods.cpp.
#pragma once

#include "proto/assay.grpc.pb.h"
#include "proto/rpc_status.h"
#include "server/http_answer.h"
#include "server/http_query.h"
#include "server/scheduler.h"

#include <functional>
#include <map>
#include <string>

namespace assay::server {

struct ReadBackend {
  v1::Assay::Service& service;
  Scheduler& scheduler;
  std::function<bool()> has_left;  // whoever asked
};

using ReadMethod = std::function<HttpAnswer(const ReadBackend&, const Query&)>;

// By the method's own name.
const std::map<std::string, ReadMethod>& read_methods();

// The message of this type as JSON, or the error.
HttpAnswer message_answer(const absl::Status& status,
                          const google::protobuf::Descriptor& type,
                          const std::string& wire);

// A method with one reply: `unary(&v1::Assay::Service::List)`.
template <class Request, class Reply>
ReadMethod unary(grpc::Status (v1::Assay::Service::*method)(grpc::ServerContext*,
                                                            const Request*,
                                                            Reply*)) {
  return [method](const ReadBackend& backend, const Query& query) {
    Request request;
    Reply reply;
    absl::Status status = fill_request(query, request);
    if (status.ok()) {
      grpc::ServerContext context;
      status = proto::from_grpc((backend.service.*method)(&context, &request, &reply));
    }
    return message_answer(status, *Reply::descriptor(), reply.SerializeAsString());
  };
}

// A method that replies in pieces, answered as one message: each piece begins with the field at
// which the one before it ended, a list that goes on, or behind it. `call(backend, request, send)`
// stops when `send(piece)` is false.
template <class Request, class Piece>
ReadMethod streamed(
    std::function<absl::Status(
        const ReadBackend&, const Request&, const std::function<bool(const Piece&)>&)> call) {
  return [call = std::move(call)](const ReadBackend& backend, const Query& query) {
    Request request;
    std::string wire;
    absl::Status status = fill_request(query, request);
    if (status.ok()) {
      status = call(backend, request, [&](const Piece& piece) {
        piece.AppendToString(&wire);
        return wire.size() <= kMaxHttpMessageBytes;
      });
    }
    return message_answer(
        wire.size() > kMaxHttpMessageBytes ? absl::OkStatus() : status, *Piece::descriptor(), wire);
  };
}

}  // namespace assay::server
