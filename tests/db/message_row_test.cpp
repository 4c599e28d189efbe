#include "db/message_row.h"

#include "tests/db/store_fixture.h"

#include "google/protobuf/util/message_differencer.h"

namespace assay::db {
namespace {

using MessageRowTest = StoreTest;

constexpr const char* kDriftTable =
    "CREATE TABLE t_drift (id INTEGER, tensor TEXT, num_elements INTEGER, num_differing INTEGER,"
    " first_index TEXT, expected_bits TEXT, found_bits TEXT, expected_value TEXT, found_value TEXT,"
    " max_ulp INTEGER, drift_class TEXT) STRICT";

TEST_F(MessageRowTest, ReportsStoredTextThatIsNoValueOfItsEnum) {
  const auto connection = *Connection::open(path(), Connection::Mode::kWrite);
  const MessageRow row(v1::Drift::descriptor(), {});
  auto statement = *connection->prepare("SELECT '', 0, 0, '[]', '', '', '', '', 0, 'GIGANTIC'");
  ASSERT_TRUE(*statement.step());
  v1::Drift drift;
  EXPECT_EQ(row.read(statement, 0, drift),
            absl::DataLossError("drift_class: stored text `GIGANTIC` is no value of its type"));
}

TEST_F(MessageRowTest, KeepsAllBitsOfEveryField) {
  const auto connection = *Connection::open(path(), Connection::Mode::kWrite);
  ASSERT_TRUE(connection->execute(kDriftTable).ok());
  const MessageRow row(v1::Drift::descriptor(), {});
  v1::Drift drift;
  fill(drift);
  auto insert = *connection->prepare(row.insert_sql("t_drift", {"id"}));
  insert.bind_all(7);
  ASSERT_TRUE(row.bind(insert, 2, drift).ok());
  ASSERT_TRUE(insert.run().ok());
  auto select = *connection->prepare("SELECT id, " + row.columns() + " FROM t_drift");
  ASSERT_TRUE(*select.step());
  v1::Drift again;
  ASSERT_TRUE(row.read(select, 1, again).ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(drift, again));
}

}  // namespace
}  // namespace assay::db
