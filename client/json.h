// Proto JSON with the field names of the data model.
#pragma once

#include "absl/status/statusor.h"

#include <string>

namespace google::protobuf {
class Message;
}

namespace assay::client {

// Ends with a line feed. 64-bit integers are strings, as proto JSON has them.
absl::StatusOr<std::string> json_text(const google::protobuf::Message& message);

}  // namespace assay::client
