// The writer, its connection and the readers, below the store.
#include "db/writer.h"

#include "db/readers.h"
#include "db/statement.h"
#include "tests/db/store_fixture.h"

namespace assay::db {
namespace {

class WriterTest : public StoreTest {
 protected:
  std::unique_ptr<Connection> connect(int busy_timeout_ms = 10'000) const {
    auto connection = *Connection::open(path(), Connection::Mode::kWrite, busy_timeout_ms);
    EXPECT_TRUE(connection->execute("PRAGMA journal_mode = WAL").ok());
    EXPECT_TRUE(connection->execute("CREATE TABLE IF NOT EXISTS t (x TEXT)").ok());
    return connection;
  }
};

TEST_F(WriterTest, LeavesNothingOfAJobThatFails) {
  Writer writer(connect());
  const absl::Status status = writer.run([](Connection& connection) {
    EXPECT_TRUE(connection.execute("INSERT INTO t VALUES ('half')").ok());
    return absl::AbortedError("no");
  });
  EXPECT_EQ(status, absl::AbortedError("no"));
  EXPECT_EQ(query("SELECT count(*) FROM t"), "0");
  EXPECT_TRUE(
      writer.run([](Connection& c) { return c.execute("INSERT INTO t VALUES ('whole')"); }).ok());
  EXPECT_EQ(query("SELECT x FROM t"), "whole");
}

TEST_F(WriterTest, SaysThatAnotherProgramKeepsTheLock) {
  const auto other = connect();
  Writer writer(connect(1));
  ASSERT_TRUE(other->execute("BEGIN IMMEDIATE").ok());
  const absl::Status status = writer.run([](Connection&) { return absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message().find("locked"), absl::string_view::npos) << status;
  ASSERT_TRUE(other->execute("COMMIT").ok());
  EXPECT_TRUE(writer.run([](Connection&) { return absl::OkStatus(); }).ok());
}

TEST_F(WriterTest, HoldsTheWriteLockBeforeItReads) {
  Writer writer(connect());
  const auto rival = connect(1);
  const absl::Status status = writer.run([&](Connection& connection) {
    EXPECT_EQ(*connection.integer("SELECT count(*) FROM t"), 0);
    // A rival that could write now would make the next write fail at once.
    EXPECT_EQ(rival->execute("INSERT INTO t VALUES ('rival')").code(),
              absl::StatusCode::kUnavailable);
    return connection.execute("INSERT INTO t VALUES ('first')");
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(query("SELECT group_concat(x) FROM t"), "first");
}

TEST_F(WriterTest, ReportsAFullFileAndGoesOnWhenThereIsRoom) {
  auto connection = connect();
  Connection& raw = *connection;
  ASSERT_TRUE(raw.execute("INSERT INTO t VALUES ('early'); PRAGMA max_page_count = 4").ok());
  Writer writer(std::move(connection));
  const auto insert = [](Connection& c) {
    return c.execute("INSERT INTO t VALUES (hex(zeroblob(50000)))");
  };
  EXPECT_EQ(writer.run(insert).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(query("SELECT group_concat(x) FROM t"), "early");
  // The writer rests between two calls.
  ASSERT_TRUE(raw.execute("PRAGMA max_page_count = 4000").ok());
  EXPECT_TRUE(writer.run(insert).ok());
  EXPECT_EQ(query("SELECT count(*) FROM t"), "2");
}

TEST_F(WriterTest, CutsOffAReaderAtItsDeadline) {
  const auto connection = connect();
  Readers readers(path(), 1'000'000);
  const auto endless = readers.read([](Connection& c) {
    return c.integer(
        "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        " SELECT count(*) FROM n");
  });
  EXPECT_EQ(endless.status().code(), absl::StatusCode::kDeadlineExceeded) << endless.status();
  Readers patient(path(), 60'000'000'000);
  EXPECT_EQ(*patient.read([](Connection& c) { return c.integer("SELECT 7"); }), 7);
}

TEST_F(WriterTest, ShowsAReaderOneStateWhateverIsWritten) {
  Writer writer(connect());
  Readers readers(path(), 60'000'000'000);
  const absl::Status status = readers.read([&](Connection& reader) {
    EXPECT_EQ(*reader.integer("SELECT count(*) FROM t"), 0);
    EXPECT_TRUE(
        writer.run([](Connection& c) { return c.execute("INSERT INTO t VALUES ('new')"); }).ok());
    EXPECT_EQ(*reader.integer("SELECT count(*) FROM t"), 0);
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(*readers.read([](Connection& c) { return c.integer("SELECT count(*) FROM t"); }), 1);
}

}  // namespace
}  // namespace assay::db
