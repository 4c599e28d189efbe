// The gateway of the real daemon: its start line, its page, its metrics and its end.
#include "proto/assay.grpc.pb.h"
#include "tests/end_to_end/daemon_process.h"

#include "grpcpp/grpcpp.h"

#include <arpa/inet.h>
#include <filesystem>
#include <fstream>
#include <httplib.h>
#include <sys/socket.h>

namespace assay {
namespace {

class Http : public testing::Test {
 protected:
  std::vector<std::string> arguments(const std::string& name, const std::string& http) const {
    return {"--db",
            folder_ / (name + ".db"),
            "--listen",
            "unix:" + (folder_ / (name + ".sock")),
            "--runner",
            ASSAY_FAKE_RUNNER,
            "--http",
            http};
  }

  // Of "assayd listening on unix:..., http://127.0.0.1:PORT".
  static int port_of(const std::string& line) {
    const std::size_t begin = line.find(", http://127.0.0.1:");
    EXPECT_NE(begin, std::string::npos) << line;
    return begin == std::string::npos ? 0 : std::stoi(line.substr(line.rfind(':') + 1));
  }

  Folder folder_;
};

TEST_F(Http, RefusesAnAddressThatIsNotLoopback) {
  Daemon daemon(arguments("a", "0.0.0.0:0"));
  EXPECT_EQ(WEXITSTATUS(daemon.wait()), 1);
  EXPECT_EQ(daemon.line(), "");
  EXPECT_NE(daemon.log().find("only a unix socket or loopback"), std::string::npos);
}

TEST_F(Http, RefusesAPortThatAnotherDaemonHolds) {
  const Daemon first(arguments("a", "127.0.0.1:0"));
  const int port = port_of(first.line());
  Daemon second(arguments("b", "127.0.0.1:" + std::to_string(port)));
  EXPECT_EQ(WEXITSTATUS(second.wait()), 1);
  EXPECT_NE(second.log().find("in use"), std::string::npos) << second.log();
}

TEST_F(Http, ServesThePageAndTheApi) {
  std::filesystem::create_directory(folder_ / "page");
  std::ofstream(folder_ / "page/index.html") << "<!doctype html>";
  std::vector<std::string> with_page = arguments("a", "localhost:0");
  with_page.insert(with_page.end(), {"--dashboards", folder_ / "page", "--http-host", "bench.lan"});
  const Daemon daemon(with_page);
  httplib::Client client("127.0.0.1", port_of(daemon.line()));
  EXPECT_EQ(client.Get("/experiments/3")->body, "<!doctype html>");
  EXPECT_EQ(client.Get("/", {{"Host", "bench.lan"}})->status, 200);
  EXPECT_EQ(client.Get("/", {{"Host", "elsewhere"}})->status, 421);
  EXPECT_NE(client.Get("/v1/ListDevices")->body.find("\"name\":\"cpu\""), std::string::npos);
  EXPECT_EQ(client.Get("/healthz")->body, "ok\n");
}

TEST_F(Http, GivesMetricsThatPrometheusTakes) {
  if (std::string(ASSAY_PROMTOOL).empty()) {
    GTEST_SKIP() << "no promtool: scripts/setup.sh fetches it, then configure again";
  }
  const Daemon daemon(arguments("a", "127.0.0.1:0"));
  httplib::Client client("127.0.0.1", port_of(daemon.line()));
  ASSERT_EQ(client.Get("/v1/List")->status, 200);
  const auto metrics = client.Get("/metrics");
  ASSERT_EQ(metrics->status, 200);
  std::ofstream(folder_ / "metrics") << metrics->body;
  const std::string command = std::string(ASSAY_PROMTOOL) + " check metrics < " +
                              (folder_ / "metrics") + " > " + (folder_ / "said") + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0)
      << std::ifstream(folder_ / "said").rdbuf() << metrics->body;
}

TEST_F(Http, CountsCallsOfGrpc) {
  const Daemon daemon(arguments("a", "127.0.0.1:0"));
  const auto stub = v1::Assay::NewStub(
      grpc::CreateChannel("unix:" + (folder_ / "a.sock"), grpc::InsecureChannelCredentials()));
  for (const std::int64_t id : {0, 7}) {
    grpc::ClientContext context;
    v1::GetRequest request;
    request.set_experiment_id(id);
    v1::Experiment reply;
    EXPECT_EQ(stub->Get(&context, request, &reply).error_code(), grpc::StatusCode::NOT_FOUND);
  }
  httplib::Client client("127.0.0.1", port_of(daemon.line()));
  const std::string text = client.Get("/metrics")->body;
  EXPECT_NE(text.find("assay_grpc_calls_total{method=\"Get\",code=\"NOT_FOUND\"} 2\n"),
            std::string::npos)
      << text;
}

TEST_F(Http, EndsWithConnectionsThatWait) {
  Daemon daemon(arguments("a", "127.0.0.1:0"));
  const int port = port_of(daemon.line());
  httplib::Client idle("127.0.0.1", port);
  idle.set_keep_alive(true);
  ASSERT_EQ(idle.Get("/healthz")->status, 200);
  // A request that never comes to its end.
  const int half = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(port));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(half, reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
  ASSERT_EQ(send(half, "GET /he", 7, MSG_NOSIGNAL), 7);
  ASSERT_EQ(idle.Get("/healthz")->status, 200);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
  EXPECT_EQ(daemon.log().find("did not end in time"), std::string::npos) << daemon.log();
  close(half);
}

}  // namespace
}  // namespace assay
