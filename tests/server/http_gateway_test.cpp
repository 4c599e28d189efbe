// The gateway over a real socket, asked as no well-behaved client would.
#include "server/http_gateway.h"

#include "server/http_guard.h"
#include "server/http_server.h"
#include "tests/server/fixture.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

namespace assay::server {
namespace {

class Gateway : public testing::Test {
 protected:
  Gateway() { listen(); }

  void listen() {
    auto address = parse_http_address("127.0.0.1:0");
    ASSERT_TRUE(address.ok()) << address.status();
    auto gateway = HttpGateway::listen(
        {.address = *address, .version = "1"}, daemon_.scheduler(), daemon_.goldens(), counts_);
    ASSERT_TRUE(gateway.ok()) << gateway.status();
    gateway_ = *std::move(gateway);
    port_ = std::stoi(gateway_->address().substr(gateway_->address().rfind(':') + 1));
  }

  ~Gateway() override {
    daemon_.scheduler().stop();
    gateway_->shut_down(std::chrono::milliseconds(1'000));
  }

  httplib::Result get(const std::string& target, const httplib::Headers& headers = {}) const {
    httplib::Client client("127.0.0.1", port_);
    return client.Get(target, headers);
  }

  int connect() const {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_port = htons(static_cast<std::uint16_t>(port_));
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    return fd;
  }

  // Until `mark` has come, or the end.
  static std::string read_until(int fd, const std::string& mark) {
    std::string text;
    std::array<char, 4096> chunk;
    ssize_t count = 0;
    const timeval patience = {.tv_sec = kPatience.count(), .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    while (text.find(mark) == std::string::npos &&
           (count = recv(fd, chunk.data(), chunk.size(), 0)) > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  // Everything that comes back before the connection is closed.
  std::string raw(const std::string& bytes) const {
    const int fd = connect();
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    shutdown(fd, SHUT_WR);
    std::string text = read_until(fd, "never");
    close(fd);
    return text;
  }

  // An open event stream.
  int watch(std::int64_t id) const {
    const int fd = connect();
    const std::string bytes = absl::StrCat("GET /v1/Watch?experiment_id=",
                                           id,
                                           " HTTP/1.1\r\nHost: localhost:",
                                           port_,
                                           "\r\nLast-Event-ID: 3\r\n\r\n");
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return fd;
  }

  // Sooner or later.
  bool query_gives(int status) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const auto reply = get("/v1/Query?sql=SELECT+1");
      if (reply && reply->status == status) {
        return true;
      }
    }
    return false;
  }

  Daemon daemon_;
  CallCounts counts_;
  std::unique_ptr<HttpGateway> gateway_;
  int port_ = 0;
};

TEST_F(Gateway, RefusesWhatIsNoLoopbackAddress) {
  EXPECT_EQ(parse_http_address("0.0.0.0:80").status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(parse_http_address("unix:/tmp/x").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Gateway, RefusesAPortThatAnotherHolds) {
  auto address = parse_http_address(gateway_->address());
  ASSERT_TRUE(address.ok());
  const auto second =
      HttpGateway::listen({.address = *address}, daemon_.scheduler(), daemon_.goldens(), counts_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(second.status().message().find("in use"), std::string::npos) << second.status();
}

TEST_F(Gateway, RefusesAnotherHost) {
  const std::string reply = raw("GET /v1/List HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 421 ")) << reply;
  EXPECT_NE(reply.find("this daemon is not `evil.example`"), std::string::npos) << reply;
}

TEST_F(Gateway, LetsPagesOfOtherSitesLeadToThePageOnly) {
  const httplib::Headers other = {{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "no-cors"}};
  for (const char* path :
       {"/v1/List", "/%761/List", "/v1/Watch", "/v1/Nothing", "/metrics", "/healthz"}) {
    EXPECT_EQ(get(path, other)->status, 403) << path;
    EXPECT_NE(get(path, {{"Sec-Fetch-Site", "same-origin"}})->status, 403) << path;
  }
  EXPECT_NE(get("/experiments/3", other)->status, 403);
}

TEST_F(Gateway, PutsItsHeadersOnEveryAnswer) {
  const std::string host = absl::StrCat("Host: localhost:", port_, "\r\n");
  for (const std::string& request :
       {"GET /healthz HTTP/1.1\r\n" + host + "\r\n",
        "GET /v1/Nothing HTTP/1.1\r\n" + host + "\r\n",
        "POST /v1/List HTTP/1.1\r\n" + host + "\r\n",
        std::string("nonsense\r\n\r\n"),
        "GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n"}) {
    const std::string reply = raw(request);
    for (const auto& [name, value] : security_headers()) {
      EXPECT_NE(reply.find(absl::StrCat(name, ": ", value, "\r\n")), std::string::npos)
          << name << " in\n"
          << reply.substr(0, 1'000);
    }
    EXPECT_EQ(reply.find("Access-Control"), std::string::npos);
  }
}

TEST_F(Gateway, RefusesWhatIsTooLongOrMalformed) {
  const std::string host = absl::StrCat("Host: localhost:", port_, "\r\n");
  for (const std::size_t num_bytes : {9'000U, 40'000U, 100'000U}) {
    EXPECT_TRUE(raw("GET /" + std::string(num_bytes, 'a') + " HTTP/1.1\r\n" + host + "\r\n")
                    .starts_with("HTTP/1.1 414 "))
        << num_bytes;
  }
  const std::string malformed = raw("nonsense\r\n\r\n");
  EXPECT_TRUE(malformed.starts_with("HTTP/1.1 400 ")) << malformed;
  EXPECT_NE(malformed.find("Connection: close\r\n"), std::string::npos) << malformed;
  EXPECT_EQ(malformed.find("Keep-Alive"), std::string::npos) << malformed;
  std::string many = "GET /healthz HTTP/1.1\r\n" + host;
  for (int i = 0; i < 5'000; ++i) {
    many += absl::StrCat("X-", i, ": 1234567890\r\n");
  }
  const std::string reply = raw(many + "\r\n");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 400 ")) << reply;
}

TEST_F(Gateway, CountsTheHeadersOfARequest) {
  std::string request = absl::StrCat("GET /healthz HTTP/1.1\r\nHost: localhost:", port_, "\r\n");
  for (std::size_t i = 1; i < kMaxHttpHeaders; ++i) {
    absl::StrAppend(&request, "X-", i, ": 1\r\n");
  }
  EXPECT_TRUE(raw(request + "\r\n").starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(raw(request + "X-More: 1\r\n\r\n").starts_with("HTTP/1.1 431 "));
}

TEST_F(Gateway, DoesNotTakeABodyForTheNextRequest) {
  const std::string host = absl::StrCat("Host: localhost:", port_, "\r\n");
  const std::string inner = "GET /healthz HTTP/1.1\r\n" + host + "\r\n";
  const std::string reply = raw(absl::StrCat(
      "GET /healthz HTTP/1.1\r\n", host, "Content-Length: ", inner.size(), "\r\n\r\n", inner));
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 413 ")) << reply;
  EXPECT_EQ(reply.find("HTTP/1.1 200"), std::string::npos) << reply;
}

TEST_F(Gateway, AnswersReadMethods) {
  daemon_.run(compare_request("a"));
  const auto list = get("/v1/List?page_size=1&state=DONE");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->status, 200);
  EXPECT_EQ(list->get_header_value("Content-Type"), "application/json");
  EXPECT_NE(list->body.find("\"experiment_id\":\"1\""), std::string::npos) << list->body;
  const auto wrong = get("/v1/Submit");
  EXPECT_EQ(wrong->status, 404);
  EXPECT_NE(wrong->body.find("no read method `Submit`; it is one of Watch, BitHistory, Get"),
            std::string::npos)
      << wrong->body;
  EXPECT_EQ(get("/v1/Get?experiment_id=x")->status, 400);
}

TEST_F(Gateway, PacksWhenAskedAndNeverInRanges) {
  daemon_.run(compare_request("a"));
  const auto packed = get("/v1/Get", {{"Accept-Encoding", "br, gzip"}, {"Range", "bytes=0-1"}});
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->status, 200);
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  for (const char* accepted :
       {"gzip;q=0", "gzip; q=0", "gzip;q=0.00, br", "br, GZIP ;q=0.0", "gzip;q=x", "br", "xgzip"}) {
    const auto plain = get("/v1/Get", {{"Accept-Encoding", accepted}});
    EXPECT_FALSE(plain->has_header("Content-Encoding")) << accepted;
    EXPECT_EQ(packed->body, plain->body) << accepted;
  }
  EXPECT_TRUE(
      get("/v1/Get", {{"Accept-Encoding", "br, gzip; q=0.5"}})->has_header("Content-Encoding"));
}

TEST_F(Gateway, EndsAQueryWhoseClientLeaves) {
  // Without an end: it runs until its deadline, a minute.
  const std::string bytes =
      absl::StrCat("GET /v1/Query?deadline_ns=60000000000&sql=",
                   "WITH+RECURSIVE+n(i)+AS+(SELECT+1+UNION+ALL+SELECT+i%2B1+FROM+n)",
                   "+SELECT+count(*)+FROM+n HTTP/1.1\r\nHost: localhost:",
                   port_,
                   "\r\n\r\n");
  std::vector<int> clients;
  for (int i = 0; i < kMaxQueries; ++i) {
    clients.push_back(connect());
    EXPECT_GT(send(clients.back(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  }
  EXPECT_TRUE(query_gives(429));
  // Bytes behind the request do not hide that the client is gone.
  EXPECT_EQ(send(clients.front(), "GET", 3, MSG_NOSIGNAL), 3);
  for (const int fd : clients) {
    close(fd);
  }
  EXPECT_TRUE(query_gives(200));
}

TEST_F(Gateway, HoldsThePlaceOfAQueryUntilItsAnswerIsSent) {
  std::vector<Queries::Place> others;
  for (int i = 1; i < kMaxQueries; ++i) {
    others.push_back(*daemon_.scheduler().queries().enter());
  }
  // More than any buffer on the way.
  const std::string bytes =
      absl::StrCat("GET /v1/Query?max_rows=100000&sql=SELECT+a.meaning,b.meaning,c.meaning",
                   "+FROM+columns+a,+columns+b,+columns+c HTTP/1.1\r\nHost: localhost:",
                   port_,
                   "\r\n\r\n");
  const int client = connect();
  EXPECT_GT(send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  const std::string text = read_until(client, "\r\n\r\n");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text.substr(0, 1'000);
  EXPECT_EQ(get("/v1/Query?sql=SELECT+1")->status, 429);
  close(client);
  EXPECT_TRUE(query_gives(200));
}

TEST_F(Gateway, SaysWhetherItIsWell) {
  EXPECT_EQ(get("/healthz")->body, "ok\n");
  daemon_.scheduler().stop();
  const auto reply = get("/healthz");
  EXPECT_EQ(reply->status, 503);
  EXPECT_EQ(reply->body, "the scheduler has stopped\n");
}

TEST_F(Gateway, CountsWhatItAnswered) {
  get("/v1/List");
  get("/v1/List?x=1");
  get("/v1/../../x.js");
  const std::string text = get("/metrics")->body;
  EXPECT_NE(text.find("assay_http_requests_total{method=\"List\",code=\"200\"} 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("assay_http_requests_total{method=\"List\",code=\"400\"} 1\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("{method=\"unknown\",code=\"404\"} 1\n"), std::string::npos) << text;
}

TEST_F(Gateway, StreamsStatesToTheEnd) {
  const auto submitted = daemon_.submit(compare_request("a"));
  ASSERT_TRUE(submitted.ok());
  const int fd = watch(submitted->experiment_id());
  const std::string text = read_until(fd, "event: end\ndata: {}\n\n");
  close(fd);
  EXPECT_NE(text.find("Content-Type: text/event-stream\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\"state\":\"DONE\""), std::string::npos) << text;
  EXPECT_NE(text.find("event: end\ndata: {}\n\n"), std::string::npos) << text;
}

TEST_F(Gateway, StreamsToOldClientsWithoutChunks) {
  daemon_.run(compare_request("a"));
  const std::string bytes =
      absl::StrCat("GET /v1/Watch HTTP/1.0\r\nHost: localhost:", port_, "\r\n\r\n");
  const int fd = connect();
  EXPECT_GT(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  const std::string text = read_until(fd, "never");
  close(fd);
  EXPECT_EQ(text.find("chunked"), std::string::npos) << text;
  EXPECT_NE(text.find("Connection: close\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\n\r\ndata: {"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("}\n\nevent: end\ndata: {}\n\n")) << text;
}

TEST_F(Gateway, LimitsOpenStreamsAndAnswersAllTheSame) {
  const auto submitted = daemon_.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  ASSERT_TRUE(submitted.ok());
  std::vector<int> streams;
  for (int i = 0; i < kMaxHttpStreams; ++i) {
    streams.push_back(watch(submitted->experiment_id()));
    EXPECT_NE(read_until(streams.back(), "data: ").find("data: "), std::string::npos) << i;
  }
  const auto refused = get("/v1/Watch");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->get_header_value("Retry-After"), "5");
  EXPECT_EQ(get("/healthz")->status, 200);

  // A place is free once a client has gone away.
  close(streams.back());
  streams.pop_back();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string text;
  do {
    const int fd = watch(submitted->experiment_id());
    text = read_until(fd, "\r\n");
    close(fd);
  } while (text.starts_with("HTTP/1.1 503 ") && std::chrono::steady_clock::now() < end);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text;
  for (const int fd : streams) {
    close(fd);
  }
}

TEST_F(Gateway, AnswersWhileRequestsOfOthersDoNotCome) {
  const std::string begin = "GET /healthz HT";
  std::vector<int> slow;
  for (std::size_t i = 0; i < 3 * kHttpThreads; ++i) {
    slow.push_back(connect());
    EXPECT_EQ(send(slow.back(), begin.data(), begin.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(begin.size()));
  }
  const auto reply = get("/healthz");
  ASSERT_TRUE(reply) << httplib::to_string(reply.error());
  EXPECT_EQ(reply->body, "ok\n");
  for (const int fd : slow) {
    close(fd);
  }
}

TEST_F(Gateway, AnswersEveryRequestThatIsThere) {
  const std::string request =
      absl::StrCat("GET /healthz HTTP/1.1\r\nHost: localhost:", port_, "\r\n\r\n");
  std::vector<int> clients;
  for (std::size_t i = 0; i < 3 * kHttpThreads; ++i) {
    clients.push_back(connect());
    EXPECT_GT(send(clients.back(), request.data(), request.size(), MSG_NOSIGNAL), 0);
  }
  for (const int fd : clients) {
    const std::string text = read_until(fd, "ok\n");
    EXPECT_TRUE(text.starts_with("HTTP/1.1 200 ")) << text;
    close(fd);
  }
}

TEST_F(Gateway, EndsWithIdleConnectionsAndOpenStreams) {
  const auto submitted = daemon_.submit(compare_request("a", {{"behaviour", {"hang"}}}));
  ASSERT_TRUE(submitted.ok());
  const int stream = watch(submitted->experiment_id());
  EXPECT_NE(read_until(stream, "data: ").find("data: "), std::string::npos);
  const int idle = connect();
  const int half = connect();
  EXPECT_EQ(send(half, "GET /he", 7, MSG_NOSIGNAL), 7);
  daemon_.scheduler().stop();
  gateway_->shut_down(std::chrono::milliseconds(1'000));
  // Whatever was written is there, and then the end.
  for (const int fd : {stream, idle, half}) {
    read_until(fd, "never");
    char next = 0;
    EXPECT_LE(recv(fd, &next, 1, MSG_DONTWAIT), 0);
    EXPECT_NE(errno, EAGAIN);
    close(fd);
  }
}

}  // namespace
}  // namespace assay::server
