#include "server/http_methods.h"

#include "server/public_status.h"

#include <utility>

namespace assay::server {
namespace {

// Its place is held until the answer is sent: results are large.
HttpAnswer query(const ReadBackend& backend, const Query& fields) {
  Queries& queries = backend.scheduler.queries();
  absl::StatusOr<Queries::Place> place = queries.enter();
  if (!place.ok()) {
    return error_answer(place.status());
  }
  const ReadMethod method = streamed<v1::QueryRequest, v1::QueryChunk>(
      [&queries](const ReadBackend& asked, const v1::QueryRequest& request, const auto& send) {
        return queries.run_inside(request, {.has_left = asked.has_left, .write = send});
      });
  HttpAnswer answer = method(backend, fields);
  answer.place = *std::move(place);
  return answer;
}

}  // namespace

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
      {"Query", &query},
      {"Receipt", unary(&Service::Receipt)},
      {"Trend", unary(&Service::Trend)},
  };
  return methods;
}

HttpAnswer message_answer(const absl::Status& status,
                          const google::protobuf::Descriptor& type,
                          const std::string& wire) {
  if (!status.ok()) {
    return error_answer(public_status(status));
  }
  absl::StatusOr<std::string> json = to_json(type, wire);
  if (!json.ok()) {
    return error_answer(public_status(json.status()));
  }
  HttpAnswer answer;
  answer.body = *std::move(json);
  return answer;
}

}  // namespace assay::server
