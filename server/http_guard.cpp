#include "server/http_guard.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace assay::server {
namespace {

constexpr int kHttpPort = 80;
constexpr std::array<const char*, 3> kOwnNames = {"127.0.0.1", "[::1]", "localhost"};

// Where ":PORT" begins, npos without one; a colon in brackets is part of an address.
std::size_t port_mark(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  return host.find(':', bracket == std::string_view::npos ? 0 : bracket);
}

bool is_host(std::string_view text) {
  const std::size_t mark = port_mark(text);
  std::uint32_t port = 1;
  if (mark != std::string_view::npos &&
      (!absl::SimpleAtoi(std::string(text.substr(mark + 1)), &port) || port > 65'535)) {
    return false;
  }
  const std::string_view name = text.substr(0, mark);
  return !name.empty() && port > 0 && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-._[]:").find(c) != std::string_view::npos;
  });
}

absl::Status invalid(const std::string& message) {
  return absl::InvalidArgumentError(message);
}

}  // namespace

absl::StatusOr<HttpGuard> HttpGuard::make(int port, const std::vector<std::string>& names) {
  std::vector<std::string> hosts;
  for (const char* name : kOwnNames) {
    hosts.push_back(absl::StrCat(name, ":", port));
    if (port == kHttpPort) {
      hosts.emplace_back(name);
    }
  }
  for (const std::string& name : names) {
    if (!is_host(name)) {
      return invalid(absl::StrCat("http host `", name, "`: expected NAME or NAME:PORT"));
    }
    hosts.push_back(absl::AsciiStrToLower(name));
  }
  return HttpGuard(std::move(hosts));
}

bool HttpGuard::is_own(std::string_view host) const {
  const std::string whole = absl::AsciiStrToLower(std::string(host));
  if (std::ranges::find(hosts_, whole) != hosts_.end()) {
    return true;
  }
  // A name that was given without a port.
  return is_host(whole) &&
         std::ranges::find(hosts_, whole.substr(0, port_mark(whole))) != hosts_.end();
}

bool HttpGuard::is_own_origin(std::string_view origin) const {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) {
      return is_own(origin.substr(scheme.size()));
    }
  }
  return false;
}

std::optional<HttpAnswer> HttpGuard::refusal(const httplib::Request& request) const {
  if (request.headers.size() > kMaxHttpHeaders) {
    return error_answer(invalid(absl::StrCat("more than ", kMaxHttpHeaders, " headers")), 431);
  }
  if (request.get_header_value_count("Host") != 1) {
    return error_answer(invalid("a request has one Host header"), 400);
  }
  const std::string host = request.get_header_value("Host");
  if (!is_own(host)) {
    return error_answer(absl::PermissionDeniedError(absl::StrCat("this daemon is not `",
                                                                 host,
                                                                 "`; it is ",
                                                                 absl::StrJoin(hosts_, ", "),
                                                                 "; --http-host adds a name")),
                        421);
  }
  // Browsers send it with what another site asked for.
  for (std::size_t i = 0; i < request.get_header_value_count("Origin"); ++i) {
    const std::string origin = request.get_header_value("Origin", i);
    if (!is_own_origin(origin)) {
      return error_answer(
          absl::PermissionDeniedError(absl::StrCat("a page of `", origin, "` may not ask here")));
    }
  }
  if (request.method != "GET" && request.method != "HEAD") {
    HttpAnswer answer = error_answer(
        absl::UnimplementedError("only GET and HEAD: what changes something goes through gRPC"),
        405);
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  if (has_body(request)) {
    return error_answer(invalid("a request has no body; its fields are in the query"), 413);
  }
  return std::nullopt;
}

// https://www.w3.org/TR/fetch-metadata/: what a page asks for without CORS has no Origin, and this.
bool is_for_another_site(const httplib::Request& request) {
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  return !site.empty() && site != "same-origin" && site != "none";
}

bool has_body(const httplib::Request& request) {
  const auto [begin, end] = request.headers.equal_range("Content-Length");
  return request.has_header("Transfer-Encoding") ||
         std::any_of(begin, end, [](const auto& header) { return header.second != "0"; });
}

httplib::Headers security_headers() {
  return {{"Content-Security-Policy",
           "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
           "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Accept-Ranges", "none"}};
}

}  // namespace assay::server
