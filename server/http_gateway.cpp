#include "server/http_gateway.h"

#include "proto/status.h"
#include "server/http_answer.h"
#include "server/http_files.h"
#include "server/http_guard.h"
#include "server/http_methods.h"
#include "server/http_metrics.h"
#include "server/http_query.h"
#include "server/http_server.h"
#include "server/http_target.h"
#include "server/http_watch.h"
#include "server/log.h"
#include "server/public_status.h"
#include "server/service.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

using httplib::Request;
using httplib::Response;

constexpr std::string_view kMethods = "/v1/";
constexpr std::string_view kWatch = "/v1/Watch";
constexpr std::string_view kHealth = "/healthz";
constexpr std::string_view kMetrics = "/metrics";
constexpr std::string_view kPage = "page";  // of method_of: whatever is none of these
constexpr const char* kEventType = "text/event-stream";
constexpr const char* kRetryAfterSeconds = "5";

void send(HttpAnswer answer, Response& response) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) {
    response.set_header(name, value);
  }
  if (answer.status == 304) {
    return;
  }
  // Beside a body it provides nothing; what it holds is let go when the response is.
  response.set_content_provider(0, answer.content_type, nullptr, [place = answer.place](bool) {});
  response.headers.erase("Content-Type");
  response.set_header("Content-Type", answer.content_type);
  response.body = std::move(answer.body);
}

HttpAnswer plain_answer(int status, const std::string& text) {
  return {.status = status, .content_type = std::string(kPlainType), .body = text + "\n"};
}

HttpAnswer no_method(const std::string& name) {
  std::vector<std::string> names = {"Watch"};
  for (const auto& [known, method] : read_methods()) {
    names.push_back(known);
  }
  return error_answer(absl::NotFoundError(
      absl::StrCat("no read method `", name, "`; it is one of ", absl::StrJoin(names, ", "))));
}

// The label of the metrics: only names that are known, as any path may be asked for.
std::string method_of(const std::string& path) {
  if (path == kHealth || path == kMetrics) {
    return path.substr(1);
  }
  if (path == kWatch) {
    return "Watch";
  }
  if (path.starts_with(kMethods)) {
    const std::string name = path.substr(kMethods.size());
    return read_methods().contains(name) ? name : "unknown";
  }
  return std::string(kPage);
}

}  // namespace

absl::StatusOr<Address> parse_http_address(const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(Address address, parse_address(text));
  if (!address.socket_path.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("http address `", text, "`: expected HOST:PORT, browsers know no sockets"));
  }
  return address;
}

HttpGateway::HttpGateway(const GatewayOptions& options,
                         Scheduler& scheduler,
                         const Goldens& goldens,
                         const CallCounts& grpc_calls)
    : version_(options.version),
      start_ns_(options.start_ns),
      files_(options.dashboards),
      scheduler_(scheduler),
      grpc_calls_(grpc_calls),
      service_(make_service(scheduler, goldens)),
      server_(std::make_unique<HttpServer>()) {}

HttpGateway::~HttpGateway() = default;

absl::StatusOr<std::unique_ptr<HttpGateway>> HttpGateway::listen(const GatewayOptions& options,
                                                                 Scheduler& scheduler,
                                                                 const Goldens& goldens,
                                                                 const CallCounts& grpc_calls) {
  std::unique_ptr<HttpGateway> gateway(new HttpGateway(options, scheduler, goldens, grpc_calls));
  ASSAY_ASSIGN_OR_RETURN(const int port, gateway->server_->bind(options.address));
  ASSAY_ASSIGN_OR_RETURN(HttpGuard guard, HttpGuard::make(port, options.host_names));
  gateway->guard_ = std::make_unique<const HttpGuard>(std::move(guard));
  gateway->address_ = absl::StrCat(options.address.host, ":", port);
  gateway->set_handlers();
  gateway->server_->start();
  return gateway;
}

void HttpGateway::shut_down(std::chrono::milliseconds grace) {
  server_->shut_down(grace);
}

void HttpGateway::set_handlers() {
  server_->set_default_headers(security_headers());
  server_->set_pre_routing_handler([this](const Request& request, Response& response) {
    handle(request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  // What the library refuses by itself: it has no body yet.
  server_->set_error_handler([](const Request& /*request*/, Response& response) {
    if (response.body.empty() && response.status != 304) {
      send(error_answer(
               absl::InvalidArgumentError("the request line or a header is malformed, or too long"),
               response.status),
           response);
      response.set_header("Connection", "close");
    }
  });
  // The library offers to keep what is about to be closed.
  server_->set_post_routing_handler([](const Request& /*request*/, Response& response) {
    if (response.get_header_value("Connection") == "close") {
      response.headers.erase("Keep-Alive");
      response.headers.erase("Connection");
      response.set_header("Connection", "close");
    }
  });
  server_->set_logger([this](const Request& request, const Response& response) {
    const std::string path = request.target.substr(0, request.target.find('?'));
    const std::string status = absl::StrCat(response.status);
    requests_.add(method_of(path), status);
    if (response.status >= 400) {
      log_line("http", {{"method", request.method}, {"path", path}, {"status", status}});
    }
  });
}

void HttpGateway::handle(const Request& request, Response& response) {
  if (std::optional<HttpAnswer> refused = guard_->refusal(request)) {
    return send(*std::move(refused), response);
  }
  const absl::StatusOr<HttpTarget> target = parse_target(request.target);
  if (!target.ok()) {
    return send(error_answer(target.status()), response);
  }
  if (is_for_another_site(request) && method_of(target->path) != kPage) {
    return send(error_answer(absl::PermissionDeniedError(
                    "a page of another site may not ask here, only lead to the web page")),
                response);
  }
  if (target->path == kWatch) {
    return watch(request, target->query, response);
  }
  send(answer(request, *target), response);
}

HttpAnswer HttpGateway::answer(const Request& request, const HttpTarget& target) const {
  if (target.path == kHealth) {
    return health();
  }
  if (target.path == kMetrics) {
    return metrics();
  }
  if (target.path == "/v1" || target.path.starts_with(kMethods)) {
    const std::string name = target.path.substr(std::min(kMethods.size(), target.path.size()));
    const auto found = read_methods().find(name);
    if (found == read_methods().end()) {
      return no_method(name);
    }
    HttpAnswer answer =
        found->second({.service = *service_,
                       .scheduler = scheduler_,
                       .has_left = [&request] { return HttpServer::has_left(request); }},
                      target.query);
    answer.headers.emplace_back("Cache-Control", "no-store");
    return answer;
  }
  return files_.answer(target.path, request.get_header_value("If-None-Match"));
}

HttpAnswer HttpGateway::health() const {
  const absl::Status status = scheduler_.health();
  if (!status.ok()) {
    return plain_answer(503, std::string(public_status(status).message()));
  }
  return plain_answer(200, "ok");
}

HttpAnswer HttpGateway::metrics() const {
  absl::StatusOr<db::Figures> figures = scheduler_.figures();
  if (!figures.ok()) {
    return error_answer(public_status(figures.status()), 503);
  }
  HttpAnswer answer;
  answer.content_type = std::string(kMetricsType);
  answer.body = metrics_text({.figures = *std::move(figures),
                              .devices = scheduler_.devices(Scheduler::Deadline::clock::now()),
                              .grpc_calls = grpc_calls_.counts(),
                              .http_requests = requests_.counts(),
                              .num_streams = num_streams_,
                              .start_ns = start_ns_,
                              .version = version_});
  return answer;
}

void HttpGateway::watch(const Request& request, const Query& query, Response& response) {
  v1::WatchRequest wanted;
  if (const absl::Status filled = fill_request(query, wanted); !filled.ok()) {
    return send(error_answer(filled), response);
  }
  // Given back when the stream, or this answer, ends.
  const std::shared_ptr<void> place(nullptr, [this](void*) { --num_streams_; });
  if (++num_streams_ > kMaxHttpStreams) {
    HttpAnswer refused = error_answer(absl::UnavailableError(absl::StrCat(
        kMaxHttpStreams, " event streams are open, the limit: close a page, or ask /v1/Get")));
    refused.headers.emplace_back("Retry-After", kRetryAfterSeconds);
    return send(std::move(refused), response);
  }
  absl::StatusOr<std::unique_ptr<HttpWatch>> opened =
      HttpWatch::open(scheduler_, wanted.experiment_id());
  if (!opened.ok()) {
    return send(error_answer(public_status(opened.status())), response);
  }
  response.status = 200;
  response.set_header("Cache-Control", "no-store");
  if (request.method == "HEAD") {
    return response.set_header("Content-Type", kEventType);
  }
  const std::shared_ptr<HttpWatch> states = *std::move(opened);
  const auto provide = [states, place](std::size_t /*offset*/, httplib::DataSink& sink) {
    const std::string text = states->next();
    if (!sink.is_writable() || (!text.empty() && !sink.write(text.data(), text.size()))) {
      return false;
    }
    if (states->is_over()) {
      sink.done();
    }
    return true;
  };
  if (request.version == "HTTP/1.0") {
    return response.set_content_provider(kEventType, provide);
  }
  response.set_chunked_content_provider(kEventType, provide);
}

}  // namespace assay::server
