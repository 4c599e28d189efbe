// What the methods of the service share.
#pragma once

#include "server/service.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace assay::server {

// Moves the value out, or keeps the status.
template <class Message>
absl::Status take(absl::StatusOr<Message> result, Message& reply) {
  if (!result.ok()) {
    return result.status();
  }
  reply = *std::move(result);
  return absl::OkStatus();
}

// INVALID_ARGUMENT: it is negative.
inline absl::Status check_id(std::int64_t experiment_id) {
  if (experiment_id < 0) {
    return absl::InvalidArgumentError("experiment_id: must not be negative");
  }
  return absl::OkStatus();
}

// Whether the reply keeps to kMaxMessageBytes.
inline bool fits(const google::protobuf::Message& message) {
  return message.ByteSizeLong() <= static_cast<std::size_t>(kMaxMessageBytes);
}

}  // namespace assay::server
