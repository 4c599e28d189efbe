#include "server/http_answer.h"

#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/util/json_util.h"
#include "google/protobuf/util/type_resolver_util.h"
#include "google/protobuf/wrappers.pb.h"

namespace assay::server {
namespace {

constexpr std::string_view kTypes = "type.googleapis.com";

absl::Status too_long() {
  return absl::ResourceExhaustedError(
      absl::StrCat("the answer has more than ",
                   proto::with_commas(static_cast<std::int64_t>(kMaxHttpMessageBytes)),
                   " bytes, the limit: ask for less"));
}

// Takes little more than the limit: a text may have six times the bytes of its message.
class BoundedOutput final : public google::protobuf::io::StringOutputStream {
 public:
  using StringOutputStream::StringOutputStream;

  bool Next(void** data, int* size) override {
    is_full_ = is_full_ || ByteCount() >= static_cast<std::int64_t>(kMaxHttpMessageBytes);
    return !is_full_ && StringOutputStream::Next(data, size);
  }

  bool is_full() const { return is_full_; }

 private:
  bool is_full_ = false;
};

}  // namespace

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
  return to_json(*message.GetDescriptor(), message.SerializeAsString());
}

absl::StatusOr<std::string> to_json(const google::protobuf::Descriptor& type,
                                    const std::string& wire) {
  if (wire.size() > kMaxHttpMessageBytes) {
    return too_long();
  }
  static google::protobuf::util::TypeResolver* const types =
      google::protobuf::util::NewTypeResolverForDescriptorPool(
          std::string(kTypes), google::protobuf::DescriptorPool::generated_pool());
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  BoundedOutput output(&json);
  google::protobuf::io::ArrayInputStream input(wire.data(), static_cast<int>(wire.size()));
  const auto printed = google::protobuf::util::BinaryToJsonStream(
      types, absl::StrCat(std::string(kTypes), "/", type.full_name()), &input, &output, options);
  if (output.is_full() || json.size() > kMaxHttpMessageBytes) {
    return too_long();
  }
  if (!printed.ok()) {
    return absl::InternalError(absl::StrCat("json: ", printed.ToString()));
  }
  return json;
}

}  // namespace assay::server
