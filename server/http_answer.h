// What the HTTP gateway answers: a status, headers and a body, before any socket.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::server {

inline constexpr std::string_view kJsonType = "application/json";
inline constexpr std::string_view kPlainType = "text/plain; charset=utf-8";

// The message behind one answer, and its text, at most; beside the limit that gRPC has for each
// message.
inline constexpr std::size_t kMaxHttpMessageBytes = 64 << 20;

struct HttpAnswer {
  int status = 200;
  std::string content_type = std::string(kJsonType);
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<const void> place = nullptr;  // held until it is sent
};

// The usual HTTP status of a code: 400, 403, 404, 409, 412, 429, 500, 501, 503, 504.
int http_status(absl::StatusCode code);

// {"code":"NOT_FOUND","message":"..."} with the status of its code, or with `status` where a code
// has no HTTP status of its own.
HttpAnswer error_answer(const absl::Status& error);
HttpAnswer error_answer(const absl::Status& error, int status);

// Proto JSON on one line, with the names of the proto. Fields at their default are left out.
// RESOURCE_EXHAUSTED past kMaxHttpMessageBytes.
absl::StatusOr<std::string> to_json(const google::protobuf::Message& message);

// Of a message of this type as it is on the wire, with every list in one stretch.
absl::StatusOr<std::string> to_json(const google::protobuf::Descriptor& type,
                                    const std::string& wire);

}  // namespace assay::server
