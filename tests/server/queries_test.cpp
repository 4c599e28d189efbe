#include "server/queries.h"

#include "server/service.h"
#include "tests/server/fixture.h"

#include "grpcpp/grpcpp.h"

#include <condition_variable>
#include <future>
#include <mutex>

namespace assay::server {
namespace {

v1::QueryRequest asking(const std::string& sql) {
  v1::QueryRequest request;
  request.set_sql(sql);
  return request;
}

// About 30 MB, more than any buffer on the way.
constexpr char kLarge[] =
    "SELECT a.meaning, b.meaning FROM columns a, columns b, columns c LIMIT 1000000";

TEST(Queries, RefusesOneMoreThanTheLimitUntilOneHasEnded) {
  Daemon daemon;
  Queries& queries = daemon.scheduler().queries();
  std::mutex mutex;
  std::condition_variable changed;
  int num_there = 0;
  bool may_go = false;
  const db::QueryCaller waiting = {.has_left = [] { return false; },
                                   .write =
                                       [&](const v1::QueryChunk&) {
                                         std::unique_lock lock(mutex);
                                         ++num_there;
                                         changed.notify_all();
                                         changed.wait(lock, [&] { return may_go; });
                                         return true;
                                       }};
  std::vector<std::future<absl::Status>> running;
  for (int i = 0; i < kMaxQueries; ++i) {
    running.push_back(
        std::async(std::launch::async, [&] { return queries.run(asking("SELECT 1"), waiting); }));
  }
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kPatience, [&] { return num_there == kMaxQueries; }));
  }
  EXPECT_EQ(queries.run(asking("SELECT 1"), waiting),
            absl::ResourceExhaustedError("4 queries run, the limit; ask again when one has ended"));
  {
    const std::lock_guard lock(mutex);
    may_go = true;
  }
  changed.notify_all();
  for (std::future<absl::Status>& each : running) {
    EXPECT_TRUE(each.get().ok());
  }
  EXPECT_TRUE(queries.run(asking("SELECT 1"), waiting).ok());
}

class QueryCall : public testing::Test {
 protected:
  QueryCall() : service_(make_service(daemon_.scheduler(), daemon_.goldens())) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(service_.get());
    server_ = builder.BuildAndStart();
    stub_ = v1::Assay::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                   grpc::InsecureChannelCredentials()));
  }

  ~QueryCall() override { server_->Shutdown(std::chrono::system_clock::now()); }

  // Every place is free again: what ran has ended.
  bool all_end() {
    const db::QueryCaller caller = {.has_left = [] { return false; },
                                    .write = [](const auto&) { return true; }};
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      std::vector<std::future<absl::Status>> running;
      std::atomic<int> num_ok = 0;
      std::mutex mutex;
      std::condition_variable changed;
      for (int i = 0; i < kMaxQueries; ++i) {
        running.push_back(std::async(std::launch::async, [&] {
          return daemon_.scheduler().queries().run(
              asking("SELECT 1"), {.has_left = caller.has_left, .write = [&](const auto&) {
                                     std::unique_lock lock(mutex);
                                     ++num_ok;
                                     changed.notify_all();
                                     changed.wait_for(lock, std::chrono::milliseconds(200), [&] {
                                       return num_ok == kMaxQueries;
                                     });
                                     return true;
                                   }});
        }));
      }
      for (std::future<absl::Status>& each : running) {
        each.wait();
      }
      if (num_ok == kMaxQueries) {
        return true;
      }
    }
    return false;
  }

  Daemon daemon_;
  std::unique_ptr<v1::Assay::Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::Assay::Stub> stub_;
};

TEST_F(QueryCall, StreamsColumnsRowsAndWhereTheyWereCut) {
  grpc::ClientContext context;
  v1::QueryRequest request = asking(kLarge);
  request.set_max_rows(20'000);
  const auto reader = stub_->Query(&context, request);
  v1::QueryChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_EQ(chunk.columns_size(), 2);
  int num_rows = chunk.rows_size();
  int num_chunks = 1;
  while (reader->Read(&chunk)) {
    EXPECT_EQ(chunk.columns_size(), 0);
    num_rows += chunk.rows_size();
    ++num_chunks;
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(num_rows, 20'000);
  EXPECT_GT(num_chunks, 1);
  EXPECT_EQ(chunk.truncated(), "20,000 rows");
}

TEST_F(QueryCall, TellsWhatWasRefused) {
  grpc::ClientContext context;
  const auto reader = stub_->Query(&context, asking("SELECT * FROM t_experiment"));
  v1::QueryChunk chunk;
  EXPECT_FALSE(reader->Read(&chunk));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message().substr(0, 33), "sql: no such table: t_experiment;");
}

TEST_F(QueryCall, EndsWhenItsClientLeaves) {
  for (const std::string& sql :
       {std::string(kLarge),
        std::string("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                    " SELECT count(*) FROM n")}) {
    grpc::ClientContext context;
    v1::QueryRequest request = asking(sql);
    request.set_max_rows(1'000'000);
    request.set_deadline_ns(60'000'000'000);
    const auto reader = stub_->Query(&context, request);
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
    EXPECT_TRUE(all_end());
  }
}

TEST_F(QueryCall, EndsAfterItsDeadlineWhenItsClientDoesNotRead) {
  grpc::ClientContext context;
  v1::QueryRequest request = asking(kLarge);
  request.set_max_rows(1'000'000);
  request.set_deadline_ns(500'000'000);
  const auto reader = stub_->Query(&context, request);
  v1::QueryChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_TRUE(all_end());
  context.TryCancel();
  EXPECT_FALSE(reader->Finish().ok());
}

}  // namespace
}  // namespace assay::server
