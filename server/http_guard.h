// Who may ask the HTTP gateway, and how. A page of another site must not reach it through the
// browser of a person who runs a daemon, not even by a name that turns into a loopback address.
#pragma once

#include "server/http_answer.h"

#include "absl/status/statusor.h"

#include <httplib.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

inline constexpr std::size_t kMaxHttpHeaders = 64;

class HttpGuard {
 public:
  // `names` are NAME, with any port, or NAME:PORT, beside the daemon's own: 127.0.0.1, [::1] and
  // localhost with `port`. INVALID_ARGUMENT: a name that no Host header can have.
  static absl::StatusOr<HttpGuard> make(int port, const std::vector<std::string>& names);

  // Why a request is refused, if it is: 421 another Host, 403 another Origin, 405 neither GET nor
  // HEAD, 413 a body, 431 too many headers, 400 no Host or several.
  std::optional<HttpAnswer> refusal(const httplib::Request& request) const;

 private:
  explicit HttpGuard(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}

  bool is_own(std::string_view host) const;
  bool is_own_origin(std::string_view origin) const;

  std::vector<std::string> hosts_;  // in lower case
};

// Whether a browser says that a page of another site, or another port, made it ask.
bool is_for_another_site(const httplib::Request& request);

// Whether a body follows the headers.
bool has_body(const httplib::Request& request);

// On every answer: nothing from elsewhere is loaded, nothing is framed, sniffed or shared.
httplib::Headers security_headers();

}  // namespace assay::server
