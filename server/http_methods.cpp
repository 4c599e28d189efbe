#include "server/http_methods.h"

#include "proto/text.h"
#include "server/public_status.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {

const std::map<std::string, ReadMethod>& read_methods() {
  using Service = v1::Assay::Service;
  static const std::map<std::string, ReadMethod> methods = {
      {"BitHistory", unary(&Service::BitHistory)},
      {"Get", unary(&Service::Get)},
      {"GetRecording", unary(&Service::GetRecording)},
      {"List", unary(&Service::List)},
      {"ListDevices", unary(&Service::ListDevices)},
      {"ListGoldens", unary(&Service::ListGoldens)},
      {"ListOperators", unary(&Service::ListOperators)},
      {"ListRecordings", unary(&Service::ListRecordings)},
      {"ListRegressions", unary(&Service::ListRegressions)},
      {"ListSeries", unary(&Service::ListSeries)},
      {"ListTunings", unary(&Service::ListTunings)},
      {"LookupTuning", unary(&Service::LookupTuning)},
      {"Query",
       streamed<v1::QueryRequest, v1::QueryChunk>(
           [](const ReadBackend& backend, const v1::QueryRequest& request, const auto& send) {
             return backend.scheduler.queries().run(request,
                                                    {.has_left = backend.has_left, .write = send});
           })},
      {"Receipt", unary(&Service::Receipt)},
      {"Trend", unary(&Service::Trend)},
  };
  return methods;
}

HttpAnswer message_answer(const absl::Status& status, const google::protobuf::Message& message) {
  const std::size_t num_bytes = message.ByteSizeLong();
  if (num_bytes > kMaxHttpMessageBytes) {
    return error_answer(absl::ResourceExhaustedError(
        absl::StrCat("the answer has more than ",
                     proto::with_commas(static_cast<std::int64_t>(kMaxHttpMessageBytes)),
                     " bytes, the limit: ask for less")));
  }
  if (!status.ok()) {
    return error_answer(public_status(status));
  }
  absl::StatusOr<std::string> json = to_json(message);
  if (!json.ok()) {
    return error_answer(public_status(json.status()));
  }
  HttpAnswer answer;
  answer.body = *std::move(json);
  return answer;
}

}  // namespace assay::server
