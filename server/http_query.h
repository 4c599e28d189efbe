// Fills a request's message from a query string, field by field of the proto.
#pragma once

#include "server/http_target.h"

#include "absl/status/status.h"
#include "google/protobuf/message.h"

namespace assay::server {

// `page_size=20&state=DONE`: numbers in decimal, true or false, enums by name. A repeated field
// comes once for each value, a field of a message inside has a dotted name (`plan.num_blocks=4`),
// a Setting is NAME=VALUE (`axes=kv=int8`). INVALID_ARGUMENT names the field: it is not there (and
// lists those that are), comes twice, cannot be given in a query, or its value does not fit.
absl::Status fill_request(const Query& query, google::protobuf::Message& request);

}  // namespace assay::server
