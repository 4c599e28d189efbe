// The commands around recordings, as they are typed, against a daemon that keeps them in memory.
#include "client/commands.h"
#include "proto/assay.grpc.pb.h"
#include "tests/client/fixtures.h"
#include "tests/client/recorded_samples.h"
#include "tests/temporary_folder.h"

#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

#include <memory>
#include <sstream>

namespace assay::client {
namespace {

class RecordingService final : public v1::Assay::Service {
 public:
  RecordedFile kept;
  std::vector<std::size_t> chunk_bytes;
  std::uint32_t page_rows = 1'000;
  std::uint32_t num_lost = 0;  // rows that are not there any more
  v1::Experiment experiment;
  grpc::Status import_status;

  grpc::Status Import(grpc::ServerContext* /*context*/,
                      grpc::ServerReader<v1::ImportChunk>* reader,
                      v1::Recording* reply) override {
    v1::ImportChunk chunk;
    while (import_status.ok() && reader->Read(&chunk)) {
      chunk_bytes.push_back(chunk.ByteSizeLong());
      if (chunk.has_recording()) {
        kept = {chunk.recording(), {}};
      }
      kept.rows.insert(kept.rows.end(), chunk.rows().begin(), chunk.rows().end());
    }
    kept.recording.set_recording_id(3);
    *reply = kept.recording;
    return import_status;
  }

  grpc::Status ListRecordings(grpc::ServerContext* /*context*/,
                              const v1::ListRecordingsRequest* /*request*/,
                              v1::ListRecordingsResponse* reply) override {
    if (kept.recording.recording_id() > 0) {
      *reply->add_recordings() = kept.recording;
    }
    return grpc::Status::OK;
  }

  grpc::Status GetRecording(grpc::ServerContext* /*context*/,
                            const v1::GetRecordingRequest* request,
                            v1::GetRecordingResponse* reply) override {
    if (request->recording_id() > 3) {
      return {grpc::StatusCode::NOT_FOUND, "recording_id: there is no such one"};
    }
    *reply->mutable_recording() = kept.recording;
    for (std::size_t i = request->after_row();
         i < kept.rows.size() - num_lost && i < request->after_row() + page_rows;
         ++i) {
      *reply->add_rows() = kept.rows[i];
    }
    return grpc::Status::OK;
  }

  grpc::Status Get(grpc::ServerContext* /*context*/,
                   const v1::GetRequest* request,
                   v1::Experiment* reply) override {
    *reply = experiment;
    if (request->configuration() > 0) {
      reply->clear_configurations();
      *reply->add_configurations() =
          experiment.configurations(static_cast<int>(request->configuration()) - 1);
    }
    return grpc::Status::OK;
  }
};

class RecordingCommands : public testing::Test {
 protected:
  void SetUp() override {
    service_.experiment = made_up_comparison();
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
    address_ = "127.0.0.1:" + std::to_string(port);
  }

  int run_with(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return run(arguments,
               {.out = out_, .err = err_, .default_address = address_, .version = "1.2.3"});
  }

  std::string file_of(const std::string& text) {
    const std::string path = folder_ / "cache.json";
    std::ofstream(path) << text;
    return path;
  }

  bool said(const std::string& text) const {
    return err_.str().find(text) != std::string::npos || out_.str().find(text) != std::string::npos;
  }

  std::string all() const { return out_.str() + err_.str(); }

  Folder folder_;
  RecordingService service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::ostringstream out_;
  std::ostringstream err_;
};

// `num` rows of 32 samples, the first the fastest and the last one failed.
std::string cache_of(int num) {
  std::string text =
      R"({"kernel_name": "add", "device_name": "card", "tune_params_keys": ["block"], "cache": {)";
  for (int i = 0; i < num; ++i) {
    const std::string block = std::to_string(i + 1);
    text += std::string(i == 0 ? "" : ",\n") + "\"" + block + "\": {\"block\": " + block;
    if (i + 1 == num) {
      text += ", \"time\": \"CompilationFailedConfig\"}";
      continue;
    }
    text += ", \"times\": [";
    for (int k = 0; k < 32; ++k) {
      text += (k == 0 ? "" : ", ") + std::to_string(0.1 * (i + 1) + 1e-5 * k);
    }
    text += "]}";
  }
  return text + "}}";
}

TEST_F(RecordingCommands, SayWhatFillsAnEmptyList) {
  EXPECT_EQ(run_with({"recordings"}), 0) << all();
  EXPECT_EQ(out_.str(), "no recording yet: `assay import FILE` keeps what another tool measured\n");
}

TEST_F(RecordingCommands, SayWhatIsWrongWithAFile) {
  EXPECT_EQ(run_with({"import", folder_ / "none.json"}), 2);
  EXPECT_TRUE(said("none.json: No such file or directory")) << all();
  EXPECT_EQ(run_with({"import", file_of("{}")}), 2);
  EXPECT_TRUE(said("cache.json: none of the known formats")) << all();
  EXPECT_EQ(run_with({"sweep", "--replay", file_of("")}), 2);
  EXPECT_TRUE(said("--replay: ") && said("cache.json: empty file")) << all();
  EXPECT_TRUE(service_.chunk_bytes.empty());
}

TEST_F(RecordingCommands, PassOnWhyTheDaemonRefusesAnImport) {
  service_.import_status = {grpc::StatusCode::RESOURCE_EXHAUSTED, "rows: more than the limit"};
  EXPECT_EQ(run_with({"import", file_of(cache_of(20'000))}), 1);
  EXPECT_TRUE(said("rows: more than the limit")) << all();
}

TEST_F(RecordingCommands, ImportSendsEveryRowInChunks) {
  ASSERT_EQ(run_with({"import", file_of(cache_of(9'000))}), 0) << all();
  EXPECT_EQ(service_.kept.rows.size(), 9'000U);
  EXPECT_EQ(service_.kept.recording.file_name(), "cache.json");
  EXPECT_GT(service_.chunk_bytes.size(), 2U);
  for (const std::size_t num_bytes : service_.chunk_bytes) {
    EXPECT_LE(num_bytes, std::size_t{1} << 20);
  }
  EXPECT_TRUE(said("recording   3\n")) << all();
  EXPECT_TRUE(said("failed      1 compile\n")) << all();
  EXPECT_TRUE(said("median     100.2     0  8,999  block=1\n")) << all();
  ASSERT_EQ(run_with({"recordings"}), 0);
  EXPECT_TRUE(said("kernel_tuner_cache  9,000  add     card    cache.json")) << all();
}

TEST_F(RecordingCommands, ExportARecordingFromItsPages) {
  ASSERT_EQ(run_with({"import", file_of(cache_of(2'500))}), 0) << all();
  const std::string path = folder_ / "out.json";
  ASSERT_EQ(run_with({"export", "--recording", "3", "--format", "t4", "-o", path}), 0) << all();
  EXPECT_TRUE(said("out.json: 2,500 rows\n")) << all();
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const RecordedFile written = parsed(text.str());
  ASSERT_EQ(written.rows.size(), 2'500U);
  EXPECT_EQ(written.rows[2'000].SerializeAsString(), service_.kept.rows[2'000].SerializeAsString());
  EXPECT_EQ(run_with({"export", "--recording", "3", "--format", "t4", "-o", path}), 1);
  EXPECT_TRUE(said("is there already; name another file or add --overwrite")) << all();
  EXPECT_EQ(run_with({"export", "--recording", "3", "--format", "t4", "-o", path, "--overwrite"}),
            0);
  service_.num_lost = 10;
  EXPECT_EQ(run_with({"export", "--recording", "3", "--format", "t4"}), 1);
  EXPECT_TRUE(said("fewer rows than the recording has")) << all();
}

TEST_F(RecordingCommands, ExportRefusesWhatItCannotWrite) {
  EXPECT_EQ(run_with({"export", "last", "--format", "csv"}), 2);
  EXPECT_TRUE(said("format `csv`: expected one of google_benchmark, nvbench, t4")) << all();
  EXPECT_EQ(run_with({"export", "--recording", "x", "--format", "t4"}), 2);
  EXPECT_TRUE(said("--recording: `x`: expected a number from 1, or last")) << all();
  EXPECT_EQ(run_with({"export", "--recording", "4", "--format", "t4"}), 2);
  EXPECT_TRUE(said("recording_id: there is no such one")) << all();
  service_.experiment = made_up_check();
  EXPECT_EQ(run_with({"export", "7", "--format", "t4"}), 2);
  EXPECT_TRUE(said("experiment 7: a CHECK times no arms")) << all();
}

TEST_F(RecordingCommands, ExportAnExperimentInEveryFormat) {
  for (const char* format : {"google_benchmark", "nvbench", "t4"}) {
    ASSERT_EQ(run_with({"export", "7", "--format", format}), 0) << all();
    EXPECT_EQ(parsed(out_.str()).recording.format(), format);
    EXPECT_EQ(parsed(out_.str()).rows.size(), 4U) << format;
  }
}

TEST_F(RecordingCommands, ReplayAStrategyOverAFile) {
  const std::string path = file_of(cache_of(60));
  ASSERT_EQ(run_with({"sweep", "--replay", path, "--repeats", "3", "--format", "csv"}), 0) << all();
  EXPECT_TRUE(said("num_tries,genetic,random\n25,") && said("\n60,1,1\n")) << all();
  ASSERT_EQ(run_with({"sweep", "--replay", path, "--strategy", "random", "--budget", "30"}), 0);
  EXPECT_TRUE(said("winner     block=1\n") && said("ties       0 with the winner\n")) << all();
  EXPECT_TRUE(said("failed     1 compile\n") && said("tries  random\n")) << all();
  ASSERT_EQ(run_with({"sweep", "--replay", path, "--format", "json"}), 0);
  EXPECT_TRUE(said(R"("failures":{"COMPILE":1})") && said(R"("values":{"block":"1"})")) << all();
}

TEST_F(RecordingCommands, ReplayRefusesWhatCannotBe) {
  const std::string path = file_of(cache_of(5));
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--strategy", "luck"}, "`luck`: expected one of exhaustive, genetic, random"},
      {{"--objective", "mode"}, "`mode`: expected one of mean, median, time"},
      {{"--objective", "time"}, "no row has a time"},
      {{"--budget", "60s"}, "--budget: `60s`: expected a number of configurations"},
      {{"--repeats", "0"}, "--repeats: must be in [1, 10,000]"}};
  for (const auto& [options, message] : cases) {
    std::vector<std::string> arguments = {"sweep", "--replay", path};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run_with(arguments), 2) << message;
    EXPECT_TRUE(said(message)) << all();
  }
}

}  // namespace
}  // namespace assay::client
