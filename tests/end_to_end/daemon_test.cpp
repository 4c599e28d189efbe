// assayd as people start it: its addresses, its end by SIGTERM and by kill -9, and a second one.
#include "proto/assay.grpc.pb.h"
#include "tests/end_to_end/daemon_process.h"

#include "grpcpp/grpcpp.h"
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{30};

// A client that is up and reads no more: the program behind a closed laptop.
class StoppedWatch {
 public:
  StoppedWatch(const std::string& address, std::int64_t id) {
    std::array<int, 2> out = {};
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    const std::string number = std::to_string(id);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(out[1], STDERR_FILENO);
      execl(ASSAY_CLIENT,
            ASSAY_CLIENT,
            "watch",
            number.c_str(),
            "--address",
            address.c_str(),
            static_cast<char*>(nullptr));
      _exit(127);
    }
    close(out[1]);
    // Its first line says that the stream is there.
    char letter = 0;
    while (read(out[0], &letter, 1) == 1 && letter != '\n') {
      line_ += letter;
    }
    kill(pid_, SIGSTOP);
    out_ = out[0];
  }

  ~StoppedWatch() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close(out_);
  }

  StoppedWatch(const StoppedWatch&) = delete;
  StoppedWatch& operator=(const StoppedWatch&) = delete;

  const std::string& line() const { return line_; }

  // Lets it go on and returns the rest of what it says.
  std::string resume() const {
    kill(pid_, SIGCONT);
    std::string text;
    std::array<char, 4096> chunk;
    ssize_t count = 0;
    while ((count = read(out_, chunk.data(), chunk.size())) > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  pid_t pid_ = 0;
  int out_ = -1;
  std::string line_;
};

class EndToEnd : public testing::Test {
 protected:
  std::vector<std::string> arguments(const std::string& listen,
                                     const std::string& database = "a.db") const {
    return {"--db", folder_ / database, "--listen", listen, "--runner", ASSAY_FAKE_RUNNER};
  }

  std::string socket() const { return "unix:" + (folder_ / "a.sock"); }

  static std::unique_ptr<v1::Assay::Stub> stub(const std::string& address) {
    return v1::Assay::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
  }

  static v1::SubmitRequest request(const std::string& id,
                                   const std::vector<std::string>& behaviours) {
    v1::SubmitRequest request;
    request.set_request_id(id);
    v1::ExperimentSpec& spec = *request.mutable_spec();
    spec.set_kind(v1::COMPARE);
    spec.set_operator_name("fake");
    spec.set_device("cpu");
    spec.mutable_baseline()->set_variant("base");
    spec.add_candidates()->set_variant("twin");
    v1::Axis& axis = *spec.add_axes();
    axis.set_name("behaviour");
    for (const std::string& behaviour : behaviours) {
      axis.add_values(behaviour);
    }
    return request;
  }

  static v1::Experiment submit(v1::Assay::Stub& client, const v1::SubmitRequest& request) {
    grpc::ClientContext context;
    v1::Experiment experiment;
    const grpc::Status status = client.Submit(&context, request, &experiment);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return experiment;
  }

  // Watches until `num_finished` configurations are stored, or a final state.
  static v1::Experiment watch(v1::Assay::Stub& client,
                              std::int64_t id,
                              std::uint32_t num_finished = 1'000'000) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::WatchRequest watched;
    watched.set_experiment_id(id);
    const auto reader = client.Watch(&context, watched);
    v1::Experiment state;
    while (reader->Read(&state) && state.num_finished() < num_finished) {
    }
    context.TryCancel();
    return state;
  }

  static void cancel(v1::Assay::Stub& client, std::int64_t id) {
    grpc::ClientContext context;
    v1::CancelRequest request;
    request.set_experiment_id(id);
    v1::Experiment cancelled;
    const grpc::Status status = client.Cancel(&context, request, &cancelled);
    EXPECT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(cancelled.state(), v1::CANCELLED);
  }

  // One that watches is stopped, and then its experiment becomes far larger than what a stream
  // takes unread.
  std::unique_ptr<StoppedWatch> stop_watching_while_it_grows(v1::Assay::Stub& client,
                                                             std::int64_t& id) const {
    const v1::Experiment first = submit(client, request("first", {"hang"}));
    constexpr std::uint32_t kNumVerbose = 8;
    std::vector<std::string> behaviours(kNumVerbose, "verbose");
    behaviours.emplace_back("hang");
    id = submit(client, request("growing", behaviours)).experiment_id();
    auto stopped = std::make_unique<StoppedWatch>(socket(), id);
    EXPECT_NE(stopped->line().find("queued"), std::string::npos) << stopped->line();
    cancel(client, first.experiment_id());
    const v1::Experiment grown = watch(client, id, kNumVerbose);
    EXPECT_EQ(grown.num_finished(), kNumVerbose);
    EXPECT_GT(grown.ByteSizeLong(), 2'000'000U);
    return stopped;
  }

  Folder folder_;
};

TEST_F(EndToEnd, RefusesAnAddressThatIsNotLoopback) {
  Daemon daemon(arguments("0.0.0.0:7070"));
  EXPECT_EQ(WEXITSTATUS(daemon.wait()), 1);
  EXPECT_EQ(daemon.line(), "");
  EXPECT_NE(daemon.log().find("needs TLS and tokens"), std::string::npos) << daemon.log();
}

TEST_F(EndToEnd, SaysWhatIsWrongWithAConfigurationFile) {
  std::vector<std::string> with_config = arguments(socket());
  with_config.insert(with_config.end(), {"--config", folder_ / "nope.json"});
  Daemon daemon(with_config);
  EXPECT_EQ(WEXITSTATUS(daemon.wait()), 1);
  EXPECT_NE(daemon.log().find("nope.json: cannot be read"), std::string::npos) << daemon.log();
}

TEST_F(EndToEnd, RefusesADatabaseThatItCannotWrite) {
  Daemon daemon(arguments(socket(), "missing/a.db"));
  EXPECT_EQ(WEXITSTATUS(daemon.wait()), 1);
  EXPECT_EQ(daemon.line(), "");
  EXPECT_NE(daemon.log().find("missing/a.db`: "), std::string::npos) << daemon.log();
}

TEST_F(EndToEnd, RefusesADatabaseOfANewerVersionAndLeavesIt) {
  {
    Daemon daemon(arguments(socket()));
    daemon.signal(SIGTERM);
    ASSERT_EQ(daemon.wait(), 0) << daemon.log();
  }
  // Where SQLite keeps user_version, the most significant byte first.
  constexpr std::streamoff kVersionPlace = 60;
  {
    std::fstream file(folder_ / "a.db", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kVersionPlace);
    file.write("\0\0\x27\x0f", 4);
  }
  Daemon daemon(arguments(socket()));
  EXPECT_EQ(WEXITSTATUS(daemon.wait()), 1);
  EXPECT_NE(daemon.log().find("version 9999"), std::string::npos) << daemon.log();
}

TEST_F(EndToEnd, RefusesASecondDaemonAndTheFirstGoesOn) {
  Daemon first([this] {
    std::vector<std::string> both = arguments(socket());
    both.insert(both.end(), {"--listen", "127.0.0.1:0"});
    return both;
  }());
  ASSERT_TRUE(first.line().starts_with("assayd listening on unix:")) << first.line();
  const std::string port = first.line().substr(first.line().rfind(", ") + 2);

  Daemon same_database(arguments("unix:" + (folder_ / "b.sock")));
  EXPECT_EQ(WEXITSTATUS(same_database.wait()), 1);
  EXPECT_NE(same_database.log().find("database in use by pid"), std::string::npos)
      << same_database.log();
  for (const std::string& address : {port, socket()}) {
    Daemon same_address(arguments(address, "b.db"));
    EXPECT_EQ(WEXITSTATUS(same_address.wait()), 1);
    EXPECT_NE(same_address.log().find("address in use"), std::string::npos) << same_address.log();
  }
  struct stat found = {};
  ASSERT_EQ(stat((folder_ / "a.sock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  for (const std::string& address : {port, socket()}) {
    const auto client = stub(address);
    const v1::Experiment submitted = submit(*client, request("on " + address, {"ok"}));
    EXPECT_EQ(watch(*client, submitted.experiment_id()).state(), v1::DONE);
  }
}

TEST_F(EndToEnd, EndsInTimeOnSigtermWithTrueStates) {
  auto daemon = std::make_unique<Daemon>(arguments(socket()));
  auto client = stub(socket());
  const v1::Experiment running = submit(*client, request("a", {"ok", "hang"}));
  const v1::Experiment queued = submit(*client, request("b", {"ok"}));
  watch(*client, running.experiment_id(), 1);
  // One that watches, and one that never reads.
  grpc::ClientContext watching;
  v1::WatchRequest watched;
  watched.set_experiment_id(queued.experiment_id());
  const auto reader = client->Watch(&watching, watched);
  v1::Experiment state;
  ASSERT_TRUE(reader->Read(&state));
  grpc::ClientContext not_reading;
  const auto silent = client->Watch(&not_reading, watched);

  const Clock::time_point start = Clock::now();
  daemon->signal(SIGTERM);
  const int status = daemon->wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << daemon->log();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  while (reader->Read(&state)) {
  }
  const grpc::StatusCode code = reader->Finish().error_code();
  EXPECT_TRUE(code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED) << code;
  not_reading.TryCancel();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.sock"));

  daemon = std::make_unique<Daemon>(arguments(socket()));
  client = stub(socket());
  const v1::Experiment interrupted = watch(*client, running.experiment_id());
  EXPECT_EQ(interrupted.state(), v1::INTERRUPTED);
  EXPECT_EQ(interrupted.configurations_size(), 1);
  EXPECT_EQ(watch(*client, queued.experiment_id()).state(), v1::DONE);
}

TEST_F(EndToEnd, EndsInTimeThoughAWriteWaitsForAClientThatStopped) {
  Daemon daemon(arguments(socket()));
  const auto client = stub(socket());
  std::int64_t id = 0;
  const auto stopped = stop_watching_while_it_grows(*client, id);
  const Clock::time_point start = Clock::now();
  daemon.signal(SIGTERM);
  const int status = daemon.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << daemon.log();
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(daemon.log().find("did not end in time"), std::string::npos);
}

TEST_F(EndToEnd, GivesTheLastStateToAClientThatGoesOnReading) {
  const Daemon daemon(arguments(socket()));
  const auto client = stub(socket());
  std::int64_t id = 0;
  const auto stopped = stop_watching_while_it_grows(*client, id);
  cancel(*client, id);
  const std::string rest = stopped->resume();
  EXPECT_NE(rest.find("cancelled"), std::string::npos) << rest.substr(0, 400);
}

TEST_F(EndToEnd, GoesOnWithTheQueueAfterKill9) {
  auto daemon = std::make_unique<Daemon>(arguments(socket()));
  auto client = stub(socket());
  const v1::Experiment running = submit(*client, request("a", {"ok", "hang"}));
  const v1::Experiment queued = submit(*client, request("b", {"ok"}));
  watch(*client, running.experiment_id(), 1);
  daemon->signal(SIGKILL);
  // Returns only when the runners, which share the log, are gone as well.
  daemon->wait();

  daemon = std::make_unique<Daemon>(arguments(socket()));
  ASSERT_FALSE(daemon->line().empty()) << "the stale socket was not replaced";
  client = stub(socket());
  const v1::Experiment interrupted = watch(*client, running.experiment_id());
  EXPECT_EQ(interrupted.state(), v1::INTERRUPTED);
  EXPECT_EQ(interrupted.configurations_size(), 1);
  EXPECT_EQ(watch(*client, queued.experiment_id()).state(), v1::DONE);
}

}  // namespace
}  // namespace assay
