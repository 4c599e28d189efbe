#include "db/migrations.h"

#include "db/statement.h"
#include "tests/db/store_fixture.h"

#include <array>
#include <fstream>

namespace assay::db {
namespace {

class MigrationsTest : public StoreTest {
 protected:
  std::unique_ptr<Connection> connect() const {
    return *Connection::open(path(), Connection::Mode::kWrite);
  }

  // Every table, index and view with its text.
  static std::string schema_of(Connection& connection) {
    std::string text;
    auto rows = connection.prepare(
        "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema"
        " WHERE name <> 'sqlite_sequence' ORDER BY type, name");
    while (*rows->step()) {
      text += std::string(rows->text(0)) + "\n";
    }
    return text;
  }
};

// A small line of versions beside the real one.
constexpr const char* kFirstTables =
    "CREATE TABLE t_parent (parent_id INTEGER PRIMARY KEY) STRICT;"
    "CREATE TABLE t_child (parent_id INTEGER NOT NULL REFERENCES t_parent) STRICT;";
constexpr const char* kFirstViews = "CREATE VIEW parents AS SELECT parent_id FROM t_parent;";
constexpr const char* kAddName =
    "CREATE TABLE t_new (parent_id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x') STRICT;"
    "INSERT INTO t_new (parent_id) SELECT parent_id FROM t_parent;"
    "DROP TABLE t_parent; ALTER TABLE t_new RENAME TO t_parent;";
constexpr const char* kAddAge = "ALTER TABLE t_parent ADD COLUMN age INTEGER NOT NULL DEFAULT 3;";
constexpr const char* kLastViews =
    "CREATE VIEW parents AS SELECT parent_id, name, age FROM t_parent;";

const Schema kFirst{1, kFirstTables, kFirstViews, {}};

TEST_F(MigrationsTest, RefusesANewerVersionAndNamesBoth) {
  { ASSERT_TRUE(open() != nullptr); }
  ASSERT_TRUE(connect()->execute("PRAGMA user_version = 41").ok());
  const absl::Status status = migrate(*connect());
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("schema version 41"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("up to " + std::to_string(kSchemaVersion)),
            absl::string_view::npos)
      << status;
}

TEST_F(MigrationsTest, RefusesADatabaseOfAnotherProgramAndLeavesItAlone) {
  const auto connection = connect();
  ASSERT_TRUE(connection->execute("CREATE TABLE theirs (x)").ok());
  EXPECT_EQ(migrate(*connection), absl::FailedPreconditionError("not an assay database"));
  EXPECT_EQ(schema_of(*connection), "table theirs CREATE TABLE theirs (x)\n");
}

TEST_F(MigrationsTest, LeavesTheOldVersionWhenAStepFails) {
  const auto connection = connect();
  ASSERT_TRUE(migrate(*connection, kFirst).ok());
  const std::string before = schema_of(*connection);
  const std::array<Migration, 2> steps{Migration{2, kAddName}, Migration{3, "ALTER TABLE nothing"}};
  EXPECT_FALSE(migrate(*connection, {3, "", kLastViews, steps}).ok());
  EXPECT_EQ(*connection->integer("PRAGMA user_version"), 1);
  EXPECT_EQ(*connection->integer("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(schema_of(*connection), before);
}

TEST_F(MigrationsTest, RefusesAStepThatBreaksAReference) {
  const auto connection = connect();
  ASSERT_TRUE(migrate(*connection, kFirst).ok());
  ASSERT_TRUE(
      connection->execute("INSERT INTO t_parent VALUES (5); INSERT INTO t_child VALUES (5)").ok());
  const std::array<Migration, 1> steps{Migration{2, "DELETE FROM t_parent"}};
  EXPECT_EQ(migrate(*connection, {2, "", kFirstViews, steps}).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(*connection->integer("SELECT count(*) FROM t_parent"), 1);
}

TEST_F(MigrationsTest, RefusesAGapBetweenVersions) {
  const auto connection = connect();
  ASSERT_TRUE(migrate(*connection, kFirst).ok());
  const std::array<Migration, 1> steps{Migration{3, kAddAge}};
  EXPECT_EQ(migrate(*connection, {3, "", kLastViews, steps}).code(), absl::StatusCode::kInternal);
}

TEST_F(MigrationsTest, GoesForwardStepByStepAndKeepsTheRows) {
  const auto connection = connect();
  ASSERT_TRUE(migrate(*connection, kFirst).ok());
  ASSERT_TRUE(
      connection->execute("INSERT INTO t_parent VALUES (5); INSERT INTO t_child VALUES (5)").ok());
  const std::array<Migration, 2> steps{Migration{2, kAddName}, Migration{3, kAddAge}};
  const absl::Status status = migrate(*connection, {3, "", kLastViews, steps});
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(*connection->integer("PRAGMA user_version"), 3);
  EXPECT_EQ(*connection->integer("SELECT age FROM parents WHERE parent_id = 5"), 3);
  EXPECT_EQ(*connection->integer("PRAGMA foreign_keys"), 1);
}

TEST_F(MigrationsTest, GivesAFileOfItsVersionItsOwnViews) {
  const auto connection = connect();
  ASSERT_TRUE(migrate(*connection, kFirst).ok());
  ASSERT_TRUE(connection->execute("INSERT INTO t_parent VALUES (5)").ok());
  const Schema other{
      1, kFirstTables, "CREATE VIEW twice AS SELECT 2 * parent_id FROM t_parent;", {}};
  ASSERT_TRUE(migrate(*connection, other).ok());
  EXPECT_EQ(*connection->integer("SELECT * FROM twice"), 10);
  EXPECT_FALSE(connection->integer("SELECT count(*) FROM parents").ok());
  const std::string before = schema_of(*connection);
  const std::int64_t changes = *connection->integer("PRAGMA schema_version");
  ASSERT_TRUE(migrate(*connection, other).ok());
  EXPECT_EQ(*connection->integer("PRAGMA schema_version"), changes);
  EXPECT_EQ(schema_of(*connection), before);
}

// fixtures/version_N.sql is a dump of a file that version N of the schema wrote.
TEST_F(MigrationsTest, BringsEveryReleasedVersionToTheNewestSchema) {
  for (std::int64_t version = 1; version <= kSchemaVersion; ++version) {
    const std::string name = "version_" + std::to_string(version) + ".sql";
    std::ifstream in(std::string(ASSAY_FIXTURES) + "/" + name);
    ASSERT_TRUE(in.good()) << name;
    const std::string dump{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path());
    ASSERT_TRUE(connect()->execute(dump).ok()) << name;
    {
      const auto store = open();
      ASSERT_TRUE(store != nullptr) << name;
      v1::GetRequest get;
      get.set_experiment_id(1);
      get.set_include_samples(true);
      const auto experiment = store->get(get);
      ASSERT_TRUE(experiment.ok()) << experiment.status();
      EXPECT_EQ(experiment->worst_verdict(), v1::SLOWER);
      EXPECT_EQ(query("SELECT variants FROM experiments WHERE experiment_id = 1"),
                "[\"one_cell\",\"two_cell\"]");
      ASSERT_EQ(experiment->configurations_size(), 1);
      EXPECT_EQ(experiment->configurations(0).candidate().stages(0).samples_ns_size(), 3);
      EXPECT_EQ(store->goldens({})->goldens_size(), 1);
    }
    const std::string migrated = schema_of(*connect());
    std::filesystem::remove(path());
    { ASSERT_TRUE(open() != nullptr); }
    EXPECT_EQ(migrated, schema_of(*connect())) << name;
  }
}

// Version 1 knew no buckets, nothing that was not run, and one launch mode.
TEST_F(MigrationsTest, KeepsTheChecksAndTheNoiseOfVersionOne) {
  std::ifstream in(std::string(ASSAY_FIXTURES) + "/version_1.sql");
  const std::string dump{std::istreambuf_iterator<char>(in), {}};
  const auto connection = connect();
  ASSERT_TRUE(connection->execute(dump).ok());
  ASSERT_TRUE(connection
                  ->execute("INSERT INTO t_check SELECT configuration_id, 'parity', 'int8', 'fine',"
                            " 1, 584, 0, 9, '[]', 'BITS_CHECK_UNSPECIFIED', 'detail', NULL, 0.25,"
                            " '[]', '[\"twin\"]', 580, 4, 0, '' FROM t_configuration;"
                            "INSERT INTO t_noise_floor VALUES ('uuid', 'op', 'w', 'HOT', 0.5)")
                  .ok());
  const absl::Status status = migrate(*connection);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(query("SELECT launch_mode || noise_floor FROM t_noise_floor"), "STREAM0.5");
  v1::GetRequest get;
  get.set_experiment_id(1);
  const auto experiment = open()->get(get);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const v1::CheckResult& check = experiment->configurations(0).check();
  EXPECT_EQ(check.name(), "int8");
  EXPECT_EQ(check.tolerance_used(), 0.25);
  EXPECT_EQ(check.arms(0), "twin");
  EXPECT_EQ(check.num_goldens_missing(), 4U);
  EXPECT_EQ(check.tolerance_buckets_size(), 0);
  EXPECT_FALSE(check.tolerance_alarm());
  EXPECT_EQ(check.not_run(), "");
}

}  // namespace
}  // namespace assay::db
