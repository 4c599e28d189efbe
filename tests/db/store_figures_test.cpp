#include "tests/db/store_fixture.h"

namespace assay::db {
namespace {

using FiguresTest = StoreTest;

TEST_F(FiguresTest, CountsNothingInAnEmptyDatabase) {
  const auto figures = open()->figures();
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_TRUE(figures->num_experiments.empty());
  EXPECT_GT(figures->database_bytes, 0);
}

TEST_F(FiguresTest, CountsExperimentsByState) {
  const auto store = open();
  const std::int64_t failed = running(*store, 1);
  ASSERT_TRUE(store->finish(failed, v1::FAILED, "why", 3).ok());
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(store->submit(request(id), 1, 1).ok());
  }
  const auto figures = store->figures();
  ASSERT_TRUE(figures.ok()) << figures.status();
  EXPECT_EQ(figures->num_experiments,
            (std::map<v1::TaskState, std::int64_t>{{v1::FAILED, 1}, {v1::QUEUED, 2}}));
  EXPECT_EQ(std::to_string(figures->database_bytes),
            query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"));
}

TEST_F(FiguresTest, NoticesThatItsFileIsAnother) {
  const auto store = open();
  EXPECT_TRUE(store->check_file().ok()) << store->check_file();
  ASSERT_TRUE(store->submit(request("a"), 1, 1).ok());
  EXPECT_TRUE(store->check_file().ok()) << store->check_file();
  ASSERT_TRUE(store->back_up(path("copy")).ok());
  std::filesystem::rename(path("copy"), path());
  EXPECT_EQ(store->check_file().code(), absl::StatusCode::kDataLoss) << store->check_file();
  std::filesystem::remove(path());
  EXPECT_EQ(store->check_file().code(), absl::StatusCode::kDataLoss) << store->check_file();
}

}  // namespace
}  // namespace assay::db
