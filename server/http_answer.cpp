#include "server/http_answer.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/wrappers.pb.h"

namespace assay::server {

int http_status(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return 409;
    case absl::StatusCode::kFailedPrecondition:
      return 412;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    case absl::StatusCode::kUnimplemented:
      return 501;
    case absl::StatusCode::kUnavailable:
      return 503;
    case absl::StatusCode::kDeadlineExceeded:
      return 504;
    default:
      return 500;
  }
}

HttpAnswer error_answer(const absl::Status& error) {
  return error_answer(error, http_status(error.code()));
}

HttpAnswer error_answer(const absl::Status& error, int status) {
  google::protobuf::StringValue message;
  message.set_value(std::string(error.message()));
  HttpAnswer answer;
  answer.status = status;
  answer.body = absl::StrCat(R"({"code":")",
                             absl::StatusCodeToString(error.code()),
                             R"(","message":)",
                             to_json(message).value_or("\"\""),
                             "}");
  return answer;
}

absl::StatusOr<std::string> to_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto printed = google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!printed.ok()) {
    return absl::InternalError(absl::StrCat("json: ", printed.ToString()));
  }
  return json;
}

}  // namespace assay::server
