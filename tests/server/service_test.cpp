#include "server/service.h"

#include "tests/server/fixture.h"
#include "tuning/content_digest.h"

#include "grpcpp/grpcpp.h"

#include <set>
#include <string>
#include <thread>

namespace assay::server {
namespace {

class Service : public testing::Test {
 protected:
  void start(std::vector<v1::DeviceConfig> devices = {device_config("cpu")}) {
    daemon_ = std::make_unique<Daemon>(std::move(devices));
    service_ = make_service(daemon_->scheduler(), daemon_->goldens());
  }

  template <class Method, class Request, class Reply>
  grpc::Status call(Method method, const Request& request, Reply& reply) {
    grpc::ServerContext context;
    return ((*service_).*method)(&context, &request, &reply);
  }

  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<v1::Assay::Service> service_;
};

using Stub = v1::Assay::Service;

// A store whose every answer is an error that only its log should show.
class BrokenStore final : public db::Store {
 public:
  absl::StatusOr<v1::Experiment> submit(const v1::SubmitRequest&,
                                        std::uint32_t,
                                        std::int64_t) override {
    return broken();
  }

  absl::StatusOr<v1::Experiment> get(const v1::GetRequest&) const override { return broken(); }

  absl::StatusOr<v1::ListResponse> list(const v1::ListRequest&) const override {
    return absl::ResourceExhaustedError("no space left [sqlite 13 in SELECT secret]");
  }

  absl::Status start(std::int64_t, const v1::Device&, std::int64_t) override { return broken(); }

  absl::Status add_configuration(std::int64_t, const v1::Configuration&) override {
    return broken();
  }

  absl::Status finish(std::int64_t, v1::TaskState, const std::string&, std::int64_t) override {
    return broken();
  }

  absl::StatusOr<int> interrupt_running(std::int64_t) override { return broken(); }

  absl::StatusOr<std::vector<v1::Experiment>> queued() const override { return broken(); }

  absl::StatusOr<std::int64_t> typical_configuration_ns(const v1::ExperimentSpec&) const override {
    return broken();
  }

  absl::StatusOr<v1::AcceptBitsResponse> accept_bits(std::vector<v1::Golden>,
                                                     std::int64_t) override {
    return broken();
  }

  absl::StatusOr<v1::ListGoldensResponse> goldens(const v1::ListGoldensRequest&) const override {
    return absl::UnknownError("SELECT secret");
  }

  absl::StatusOr<std::optional<std::string>> golden_digest(const v1::Golden&) const override {
    return broken();
  }

  absl::Status add_verdict(std::int64_t, std::uint32_t, const v1::Verdict&) override {
    return broken();
  }

  absl::Status set_noise_floor(const v1::NoiseFloor&) override { return broken(); }

  absl::StatusOr<std::optional<v1::NoiseFloor>> noise_floor(const v1::NoiseFloor&) const override {
    return broken();
  }

  absl::StatusOr<std::vector<v1::Ceiling>> ceilings(const std::string&) const override {
    return broken();
  }

  absl::StatusOr<v1::ImportedExperiment> add_archived(const v1::Experiment&) override {
    return broken();
  }

  absl::Status back_up(const std::string&) const override { return broken(); }

  std::string path() const override { return ""; }

  absl::StatusOr<v1::PruneResponse> prune(const v1::PruneRequest&) override { return broken(); }

  absl::StatusOr<db::Figures> figures() const override { return broken(); }

  absl::Status check_file() const override { return broken(); }

  absl::StatusOr<std::vector<std::pair<std::int64_t, std::string>>> request_ids() const override {
    return broken();
  }

  absl::Status resume(std::int64_t) override { return broken(); }

  absl::Status set_tuning(const v1::Tuning&) override { return broken(); }

  absl::StatusOr<std::vector<v1::Tuning>> tunings(const v1::ListTuningsRequest&) const override {
    return broken();
  }

  absl::StatusOr<std::string> newest_code_digest(const v1::Tuning&) const override {
    return broken();
  }

  absl::Status add_blob(const std::string&, const std::string&, std::int64_t) override {
    return broken();
  }

  absl::StatusOr<std::string> blob(const std::string&) const override { return broken(); }

  absl::StatusOr<bool> has_blob(const std::string&) const override { return broken(); }

  absl::StatusOr<std::int64_t> add_recording(const v1::Recording&,
                                             const std::vector<v1::RecordedRow>&) override {
    return broken();
  }

  absl::StatusOr<std::vector<v1::Recording>> recordings() const override { return broken(); }

  absl::Status query(const v1::QueryRequest&, const db::QueryCaller&) const override {
    return broken();
  }

  absl::StatusOr<v1::GetRecordingResponse> recording(
      const v1::GetRecordingRequest&) const override {
    return broken();
  }

  absl::Status add_measured(std::int64_t,
                            const v1::Configuration&,
                            const std::vector<db::SeriesEntry>&) override {
    return broken();
  }

  absl::StatusOr<std::vector<db::ConfigurationKey>> pending_points(std::uint32_t) const override {
    return broken();
  }

  absl::Status add_points(const db::ConfigurationKey&,
                          const std::vector<db::SeriesEntry>&) override {
    return broken();
  }

  absl::StatusOr<v1::ListSeriesResponse> list_series(const v1::ListSeriesRequest&) const override {
    return broken();
  }

  absl::StatusOr<std::vector<v1::Series>> find_series(const v1::Series&,
                                                      const std::string&) const override {
    return broken();
  }

  absl::StatusOr<v1::Series> series(std::int64_t) const override { return broken(); }

  absl::StatusOr<std::vector<v1::SeriesPoint>> points(const db::PointsRequest&) const override {
    return broken();
  }

  absl::StatusOr<std::vector<v1::Golden>> epochs_of(const std::string&,
                                                    const std::string&) const override {
    return broken();
  }

  absl::StatusOr<std::vector<std::int64_t>> stale_series(std::uint32_t) const override {
    return broken();
  }

  absl::Status update_series(const db::SeriesUpdate&) override { return broken(); }

  absl::Status set_regression(const v1::Regression&) override { return broken(); }

  absl::StatusOr<v1::Regression> regression(std::int64_t) const override { return broken(); }

  absl::StatusOr<v1::ListRegressionsResponse> list_regressions(
      const v1::ListRegressionsRequest&) const override {
    return broken();
  }

  absl::StatusOr<v1::BitHistoryResponse> bit_history(const v1::BitHistoryRequest&) const override {
    return broken();
  }

 private:
  static absl::Status broken() { return absl::InternalError("disk I/O error at /secret"); }
};

TEST_F(Service, RefusesToConfirmARegressionOnRequest) {
  start();
  v1::SubmitRequest request = compare_request("r");
  request.mutable_spec()->set_confirms_regression_id(3);
  v1::Experiment reply;
  const grpc::Status status = call(&Stub::Submit, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(),
            "spec.confirms_regression_id: is set by the daemon alone; leave it out");
}

TEST_F(Service, RefusesAContextPastItsLimits) {
  start();
  v1::SubmitRequest request = compare_request("r");
  request.mutable_spec()->mutable_context()->set_commit("main");
  v1::Experiment reply;
  const grpc::Status status = call(&Stub::Submit, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message().substr(0, 20), "spec.context.commit:");
}

TEST_F(Service, KeepsWhatIsWrongInsideToTheLog) {
  BrokenStore store;
  const Goldens goldens(store, {});
  SchedulerOptions options;
  options.now_ns = [] { return std::int64_t{1}; };
  Scheduler scheduler(store, goldens, options);
  service_ = make_service(scheduler, goldens);
  constexpr char kInside[] = "an internal error; the daemon's log says which";
  v1::Experiment experiment;
  grpc::Status status = call(&Stub::Get, v1::GetRequest(), experiment);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), kInside);
  v1::ListGoldensResponse listed;
  status = call(&Stub::ListGoldens, v1::ListGoldensRequest(), listed);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), kInside);
  v1::ListResponse page;
  status = call(&Stub::List, v1::ListRequest(), page);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "no space left");
  service_.reset();
}

TEST_F(Service, AnswersInvalidArgumentWithThePath) {
  start();
  v1::Experiment experiment;
  const grpc::Status status =
      call(&Stub::Submit, compare_request("r", {{"rows", {"x"}}}), experiment);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(status.error_message().starts_with("spec.axes[0].values[0]: "))
      << status.error_message();
  v1::ListRequest list;
  list.set_page_size(1'001);
  v1::ListResponse listed;
  EXPECT_EQ(call(&Stub::List, list, listed).error_message(), "page_size: must be in [0, 1,000]");
  v1::GetRequest get;
  get.set_experiment_id(-1);
  EXPECT_EQ(call(&Stub::Get, get, experiment).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::AcceptBitsRequest accept;
  v1::AcceptBitsResponse accepted;
  EXPECT_EQ(call(&Stub::AcceptBits, accept, accepted).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(Service, AnswersNotFoundWithTheValidNames) {
  start();
  v1::ListOperatorsRequest request;
  request.set_device("moon");
  v1::ListOperatorsResponse reply;
  grpc::Status status = call(&Stub::ListOperators, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "device: no device `moon`; it is one of `cpu`");
  v1::GetRequest get;
  get.set_experiment_id(99);
  v1::Experiment experiment;
  EXPECT_EQ(call(&Stub::Get, get, experiment).error_code(), grpc::StatusCode::NOT_FOUND);
  v1::CancelRequest cancel;
  cancel.set_experiment_id(99);
  EXPECT_EQ(call(&Stub::Cancel, cancel, experiment).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(Service, AnswersAlreadyExistsForAnotherSpec) {
  start();
  v1::Experiment experiment;
  ASSERT_TRUE(call(&Stub::Submit, compare_request("r"), experiment).ok());
  EXPECT_EQ(call(&Stub::Submit, compare_request("r", {{"rows", {"9"}}}), experiment).error_code(),
            grpc::StatusCode::ALREADY_EXISTS);
}

TEST_F(Service, AnswersFailedPreconditionWithWhatIsMissing) {
  start({device_config("cpu", {"sh", "-c", "exit 9", "sh"})});
  v1::Experiment experiment;
  const grpc::Status status = call(&Stub::Submit, compare_request("r"), experiment);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(status.error_message().find("exited with status 9"), std::string::npos)
      << status.error_message();
}

TEST_F(Service, AnswersResourceExhaustedWhenTooMuchIsAsked) {
  start();
  const std::vector<std::string> many(1'001, "5");
  v1::Experiment experiment;
  const grpc::Status status =
      call(&Stub::Submit, compare_request("r", {{"rows", many}, {"ns", many}}), experiment);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
}

// Two configurations, which fit into a message one by one.
std::int64_t store_large_experiment(db::Store& store) {
  const auto submitted = store.submit(compare_request("large"), 2, 1);
  EXPECT_TRUE(submitted.ok()) << submitted.status();
  const std::int64_t id = submitted->experiment_id();
  EXPECT_TRUE(store.start(id, {}, 2).ok());
  for (const std::uint32_t number : {1U, 2U}) {
    v1::Configuration configuration;
    configuration.set_configuration(number);
    configuration.set_outcome(v1::CRASHED);
    configuration.set_message(std::string(kMaxMessageBytes / 2, 'x'));
    EXPECT_TRUE(store.add_configuration(id, configuration).ok());
  }
  EXPECT_TRUE(store.finish(id, v1::DONE, "", 3).ok());
  return id;
}

TEST_F(Service, SaysThatAnExperimentIsLargerThanAMessage) {
  start();
  v1::GetRequest get;
  get.set_experiment_id(store_large_experiment(daemon_->store()));
  v1::Experiment experiment;
  const grpc::Status status = call(&Stub::Get, get, experiment);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const std::string& message = status.error_message();
  EXPECT_TRUE(message.starts_with("experiment 1 has 16,777,")) << message;
  EXPECT_TRUE(
      message.ends_with(" bytes, the limit of a message is 16,777,216: ask for one configuration"))
      << message;
  get.set_configuration(2);
  ASSERT_TRUE(call(&Stub::Get, get, experiment).ok());
  ASSERT_EQ(experiment.configurations_size(), 1);
  EXPECT_EQ(experiment.configurations(0).configuration(), 2U);
}

TEST_F(Service, CutsAPageThatIsLargerThanAMessage) {
  start();
  constexpr int kNum = 5;
  for (int i = 0; i < kNum; ++i) {
    auto request = compare_request("r" + std::to_string(i));
    request.mutable_spec()->add_workloads(std::string(kMaxMessageBytes / 3, 'x'));
    ASSERT_TRUE(daemon_->store().submit(request, 1, 1).ok());
  }
  std::set<std::int64_t> seen;
  v1::ListRequest list;
  int num_pages = 0;
  do {
    v1::ListResponse page;
    const grpc::Status status = call(&Stub::List, list, page);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_LE(page.ByteSizeLong(), static_cast<std::size_t>(kMaxMessageBytes));
    for (const v1::Experiment& experiment : page.experiments()) {
      EXPECT_TRUE(seen.insert(experiment.experiment_id()).second);
    }
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty() && ++num_pages < kNum);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kNum));
}

TEST_F(Service, ListsDevicesOperatorsExperimentsAndGoldens) {
  start();
  v1::ListOperatorsResponse operators;
  ASSERT_TRUE(call(&Stub::ListOperators, v1::ListOperatorsRequest(), operators).ok());
  EXPECT_EQ(operators.operators(0).name(), "fake");
  v1::ListDevicesResponse devices;
  ASSERT_TRUE(call(&Stub::ListDevices, v1::ListDevicesRequest(), devices).ok());
  EXPECT_TRUE(devices.devices(0).available());
  daemon_->run(compare_request("r"));
  v1::ListResponse listed;
  ASSERT_TRUE(call(&Stub::List, v1::ListRequest(), listed).ok());
  EXPECT_EQ(listed.experiments(0).state(), v1::DONE);
  v1::ListGoldensResponse goldens;
  ASSERT_TRUE(call(&Stub::ListGoldens, v1::ListGoldensRequest(), goldens).ok());
}

// Over a port of its own, as clients do it.
class Loopback : public Service {
 protected:
  void listen() {
    start();
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  void TearDown() override {
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now());
    }
  }

  std::unique_ptr<v1::Assay::Stub> stub() const {
    return v1::Assay::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port_),
                                                  grpc::InsecureChannelCredentials()));
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(Loopback, NamesLimitAndSizeOfAMessageThatIsTooLarge) {
  listen();
  v1::SubmitRequest request = compare_request("r");
  request.mutable_spec()->set_label(std::string(kMaxMessageBytes + 1, 'x'));
  grpc::ClientContext context;
  v1::Experiment reply;
  const grpc::Status status = stub()->Submit(&context, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  for (const std::size_t figure : {std::size_t{kMaxMessageBytes}, request.ByteSizeLong()}) {
    EXPECT_NE(status.error_message().find(std::to_string(figure)), std::string::npos)
        << status.error_message();
  }
}

TEST_F(Loopback, ImportsARecordingAndGivesItBack) {
  listen();
  v1::ImportChunk chunk;
  chunk.mutable_recording()->set_format("t4");
  chunk.add_rows()->add_samples_ns(1.5);
  grpc::ClientContext context;
  v1::Recording recording;
  auto writer = stub()->Import(&context, &recording);
  ASSERT_TRUE(writer->Write(chunk));
  chunk.clear_recording();
  ASSERT_TRUE(writer->Write(chunk));
  ASSERT_TRUE(writer->WritesDone());
  const grpc::Status status = writer->Finish();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(recording.num_rows(), 2U);
  v1::ListRecordingsResponse listed;
  ASSERT_TRUE(call(&Stub::ListRecordings, v1::ListRecordingsRequest(), listed).ok());
  EXPECT_EQ(listed.recordings(0).SerializeAsString(), recording.SerializeAsString());
  v1::GetRecordingResponse page;
  ASSERT_TRUE(call(&Stub::GetRecording, v1::GetRecordingRequest(), page).ok());
  EXPECT_EQ(page.rows(1).samples_ns(0), 1.5);
  v1::GetRecordingRequest missing;
  missing.set_recording_id(9);
  EXPECT_EQ(call(&Stub::GetRecording, missing, page).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(Loopback, WatchesAnExperimentLargerThanAMessageWithoutItsConfigurations) {
  listen();
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_experiment_id(store_large_experiment(daemon_->store()));
  const auto client = stub();
  const auto reader = client->Watch(&context, request);
  v1::Experiment state;
  ASSERT_TRUE(reader->Read(&state));
  EXPECT_EQ(state.state(), v1::DONE);
  EXPECT_EQ(state.num_finished(), 2U);
  EXPECT_TRUE(state.configurations().empty());
  EXPECT_FALSE(reader->Read(&state));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(Loopback, Answers64ClientsThatSubmitAndWatchAtOnce) {
  listen();
  constexpr int kClients = 64;
  std::vector<v1::Experiment> last(kClients);
  std::vector<std::thread> clients;
  clients.reserve(kClients);
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      const auto client = stub();
      grpc::ClientContext submitting;
      v1::Experiment submitted;
      const grpc::Status status =
          client->Submit(&submitting, compare_request("client " + std::to_string(i)), &submitted);
      EXPECT_TRUE(status.ok()) << status.error_message();
      grpc::ClientContext watching;
      v1::WatchRequest request;
      request.set_experiment_id(submitted.experiment_id());
      const auto reader = client->Watch(&watching, request);
      v1::Experiment state;
      while (reader->Read(&state)) {
        last[static_cast<std::size_t>(i)] = state;
      }
      EXPECT_TRUE(reader->Finish().ok());
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  std::set<std::int64_t> ids;
  for (const v1::Experiment& experiment : last) {
    EXPECT_EQ(experiment.state(), v1::DONE) << experiment.message();
    EXPECT_EQ(experiment.configurations_size(), 1);
    ids.insert(experiment.experiment_id());
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kClients));
  v1::ListRequest list;
  list.set_page_size(1'000);
  EXPECT_EQ(daemon_->scheduler().list(list)->experiments_size(), kClients);
}

TEST_F(Loopback, KeepsAnUploadAndFindsIt) {
  listen();
  const auto client = stub();
  const std::string bytes(std::size_t{3} << 20, 'b');
  v1::FindBlobsRequest wanted;
  wanted.add_digests(tuning::content_digest(bytes));
  const auto num_missing = [&] {
    grpc::ClientContext context;
    v1::FindBlobsResponse found;
    EXPECT_TRUE(client->FindBlobs(&context, wanted, &found).ok());
    return found.missing_size();
  };
  EXPECT_EQ(num_missing(), 1);
  for (const std::int64_t num_bytes : {std::int64_t{1} << 40, std::int64_t{3} << 20}) {
    grpc::ClientContext context;
    v1::UploadResponse reply;
    const auto writer = client->Upload(&context, &reply);
    v1::UploadChunk chunk;
    chunk.set_digest(wanted.digests(0));
    chunk.set_num_bytes(num_bytes);
    for (std::size_t begin = 0; begin < bytes.size(); begin += std::size_t{1} << 20) {
      chunk.set_data(bytes.substr(begin, std::size_t{1} << 20));
      writer->Write(chunk);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    EXPECT_EQ(status.ok(), num_bytes == std::int64_t{3} << 20) << status.error_message();
    if (!status.ok()) {
      EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
      EXPECT_EQ(num_missing(), 1);
    }
  }
  EXPECT_EQ(num_missing(), 0);
}

TEST_F(Loopback, EndsAWatchWhoseClientWentAway) {
  listen();
  const auto submitted = daemon_->submit(compare_request("a", {{"behaviour", {"hang"}}}));
  ASSERT_TRUE(submitted.ok());
  grpc::ClientContext context;
  v1::WatchRequest request;
  request.set_experiment_id(submitted->experiment_id());
  const auto client = stub();
  const auto reader = client->Watch(&context, request);
  v1::Experiment state;
  EXPECT_TRUE(reader->Read(&state));
  context.TryCancel();
  while (reader->Read(&state)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

}  // namespace
}  // namespace assay::server
