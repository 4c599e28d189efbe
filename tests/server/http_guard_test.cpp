#include "server/http_guard.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

httplib::Request get(const std::string& host) {
  httplib::Request request;
  request.method = "GET";
  request.set_header("Host", host);
  return request;
}

HttpGuard guard(int port = 8080, const std::vector<std::string>& names = {}) {
  auto made = HttpGuard::make(port, names);
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

// The status of a refusal, 0 for none.
int refused(const HttpGuard& guard, const httplib::Request& request) {
  const auto refusal = guard.refusal(request);
  return refusal.has_value() ? refusal->status : 0;
}

TEST(HttpGuard, RefusesOtherHosts) {
  for (const char* host : {"evil.example",
                           "evil.example:8080",
                           "127.0.0.1",
                           "127.0.0.1:80",
                           "localhost:9000",
                           "127.0.0.1.evil.example:8080",
                           "localhost:8080.evil",
                           "127.0.0.1:8080@evil",
                           "[::2]:8080",
                           ""}) {
    EXPECT_EQ(refused(guard(), get(host)), 421) << host;
  }
}

TEST(HttpGuard, TakesItsOwnNames) {
  for (const char* host : {"127.0.0.1:8080", "[::1]:8080", "localhost:8080", "LocalHost:8080"}) {
    EXPECT_EQ(refused(guard(), get(host)), 0) << host;
  }
  EXPECT_EQ(refused(guard(80), get("localhost")), 0);
}

TEST(HttpGuard, TakesNamesThatWereGiven) {
  const HttpGuard named = guard(8080, {"bench.lan", "localhost:9000"});
  for (const char* host : {"bench.lan", "Bench.LAN:1234", "localhost:9000"}) {
    EXPECT_EQ(refused(named, get(host)), 0) << host;
  }
  for (const char* host : {"x.bench.lan", "localhost:9001", "bench.lan:1:2", "bench.lan:x"}) {
    EXPECT_EQ(refused(named, get(host)), 421) << host;
  }
  for (const char* name : {"", "*", "a b", "http://a", "a:", "a:70000", ":80"}) {
    EXPECT_EQ(HttpGuard::make(8080, {name}).status().code(), absl::StatusCode::kInvalidArgument)
        << name;
  }
}

TEST(HttpGuard, RefusesNoHostAndSeveral) {
  httplib::Request request;
  request.method = "GET";
  EXPECT_EQ(refused(guard(), request), 400);
  request = get("localhost:8080");
  request.headers.emplace("Host", "localhost:8080");
  EXPECT_EQ(refused(guard(), request), 400);
}

TEST(HttpGuard, RefusesPagesOfOtherSites) {
  httplib::Request request = get("localhost:8080");
  request.set_header("Origin", "http://localhost:8080");
  EXPECT_EQ(refused(guard(), request), 0);
  for (const char* origin : {"https://evil.example",
                             "null",
                             "http://localhost:9000",
                             "foo://localhost:8080",
                             "localhost:8080",
                             ""}) {
    request.headers.erase("Origin");
    request.set_header("Origin", origin);
    EXPECT_EQ(refused(guard(), request), 403) << origin;
  }
  request = get("localhost:8080");
  request.set_header("Origin", "https://localhost:8080");
  EXPECT_EQ(refused(guard(), request), 0);
  request.headers.emplace("Origin", "https://evil.example");
  EXPECT_EQ(refused(guard(), request), 403);
}

TEST(HttpGuard, TellsWhatAPageOfAnotherSiteAsksFor) {
  httplib::Request request = get("localhost:8080");
  EXPECT_FALSE(is_for_another_site(request));
  for (const auto& [site, expected] : {std::pair("same-origin", false),
                                       std::pair("none", false),
                                       std::pair("same-site", true),
                                       std::pair("cross-site", true),
                                       std::pair("anything", true)}) {
    request.headers.erase("Sec-Fetch-Site");
    request.set_header("Sec-Fetch-Site", site);
    EXPECT_EQ(is_for_another_site(request), expected) << site;
  }
}

TEST(HttpGuard, RefusesWhatIsNotReading) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"}) {
    httplib::Request request = get("localhost:8080");
    request.method = method;
    const auto refusal = guard().refusal(request);
    ASSERT_TRUE(refusal.has_value()) << method;
    EXPECT_EQ(refusal->status, 405) << method;
    EXPECT_EQ(refusal->headers.at(0).second, "GET, HEAD");
  }
  httplib::Request request = get("localhost:8080");
  request.method = "HEAD";
  EXPECT_EQ(refused(guard(), request), 0);
}

TEST(HttpGuard, RefusesBodiesAndTooManyHeaders) {
  httplib::Request request = get("localhost:8080");
  request.set_header("Content-Length", "0");
  EXPECT_EQ(refused(guard(), request), 0);
  request.headers.emplace("Content-Length", "60");
  EXPECT_EQ(refused(guard(), request), 413);
  request = get("localhost:8080");
  request.set_header("Transfer-Encoding", "chunked");
  EXPECT_EQ(refused(guard(), request), 413);
  request = get("localhost:8080");
  for (std::size_t i = 0; i < kMaxHttpHeaders; ++i) {
    request.set_header("X-" + std::to_string(i), "1");
  }
  EXPECT_EQ(refused(guard(), request), 431);
}

}  // namespace
}  // namespace assay::server
