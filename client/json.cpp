#include "client/json.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/json_util.h"

namespace assay::client {

absl::StatusOr<std::string> json_text(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) {
    return absl::InternalError(absl::StrCat("json: ", status.message().ToString()));
  }
  if (!text.ends_with('\n')) {
    text += '\n';
  }
  return text;
}

}  // namespace assay::client
