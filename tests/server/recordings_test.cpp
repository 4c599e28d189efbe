#include "server/recordings.h"

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace assay::server {
namespace {

class RecordingsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = db::Store::open({.path = folder_ / "assay.db"});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    recordings_ = std::make_unique<Recordings>(*store_, [] { return 77; });
  }

  absl::StatusOr<v1::Recording> receive(const std::vector<v1::ImportChunk>& chunks) {
    std::size_t place = 0;
    return recordings_->receive([&](v1::ImportChunk& chunk) {
      if (place == chunks.size()) {
        return false;
      }
      chunk = chunks[place++];
      return true;
    });
  }

  std::string error_of(const std::vector<v1::ImportChunk>& chunks) {
    const absl::Status status = receive(chunks).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_EQ(recordings_->list()->recordings_size(), 0);
    return std::string(status.message());
  }

  Folder folder_;
  std::unique_ptr<db::Store> store_;
  std::unique_ptr<Recordings> recordings_;
};

v1::ImportChunk first_chunk() {
  v1::ImportChunk chunk;
  v1::Recording& recording = *chunk.mutable_recording();
  recording.set_format("t4");
  recording.set_file_name("add.json");
  recording.add_parameters("block");
  return chunk;
}

// Rows of 32 samples each.
void add_rows(v1::ImportChunk& chunk, int first, int num) {
  for (int i = first; i < first + num; ++i) {
    v1::RecordedRow& row = *chunk.add_rows();
    row.add_values(std::to_string(i));
    for (int k = 0; k < 32; ++k) {
      row.add_samples_ns(1e6 + i + k / 7.0);
    }
  }
}

TEST_F(RecordingsTest, RefusesFaultsByTheirFieldAndKeepsNothing) {
  EXPECT_EQ(error_of({}), "recording: missing; expected at least one chunk");
  v1::ImportChunk chunk;
  EXPECT_EQ(error_of({chunk}), "recording.format: missing; expected in the first chunk");
  chunk = first_chunk();
  chunk.mutable_recording()->set_recording_id(3);
  EXPECT_EQ(error_of({chunk}), "recording.recording_id: is given here; leave it out");
  chunk = first_chunk();
  chunk.mutable_recording()->set_file_name("folder/add.json");
  EXPECT_EQ(error_of({chunk}), "recording.file_name: must not name a folder");
  chunk = first_chunk();
  chunk.mutable_recording()->set_name(std::string(5000, 'x'));
  EXPECT_EQ(error_of({chunk}), "recording.name: has 5000 bytes, at most 4,096");
  EXPECT_EQ(error_of({first_chunk(), first_chunk()}),
            "recording: only the first chunk may have it");
}

TEST_F(RecordingsTest, RefusesRowsByTheirNumber) {
  v1::ImportChunk chunk = first_chunk();
  add_rows(chunk, 0, 2);
  v1::ImportChunk next;
  next.add_rows();
  EXPECT_EQ(error_of({chunk, next}),
            "rows[3]: values: has 0, expected one for each of 1 parameters");
  next.mutable_rows(0)->add_values("9");
  next.mutable_rows(0)->add_samples_ns(std::numeric_limits<double>::infinity());
  EXPECT_EQ(error_of({chunk, next}), "rows[3]: samples_ns and time_ns: must be finite");
  next.mutable_rows(0)->clear_samples_ns();
  next.mutable_rows(0)->add_metrics()->set_value(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(error_of({chunk, next}), "rows[3]: metrics: must be finite; leave out what is not");
  next.mutable_rows(0)->clear_metrics();
  next.mutable_rows(0)->set_failure(static_cast<v1::FailureClass>(99));
  EXPECT_EQ(error_of({chunk, next}), "rows[3]: failure: is no failure class");
}

TEST_F(RecordingsTest, NamesTheLimitOfAChunk) {
  v1::ImportChunk chunk = first_chunk();
  chunk.add_rows()->add_values(std::string(kMaxRecordedChunkBytes, 'x'));
  const absl::Status status = receive({chunk}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find(", the limit is 1,048,576"), absl::string_view::npos) << status;
}

TEST_F(RecordingsTest, NamesTheLimitOfRows) {
  v1::ImportChunk chunk = first_chunk();
  chunk.mutable_recording()->clear_parameters();
  v1::ImportChunk rows;
  for (int i = 0; i < 100'000; ++i) {
    rows.add_rows();
  }
  std::vector<v1::ImportChunk> chunks(11, rows);
  chunks[0].MergeFrom(chunk);
  const absl::Status status = receive(chunks).status();
  EXPECT_EQ(status.message(), "rows: more than 1,000,000, the limit is 1,000,000");
}

TEST_F(RecordingsTest, ReceivesOneImportAtATime) {
  const auto outer = recordings_->receive([this](v1::ImportChunk&) {
    EXPECT_EQ(receive({first_chunk()}).status().code(), absl::StatusCode::kResourceExhausted);
    return false;
  });
  EXPECT_FALSE(outer.ok());
  EXPECT_TRUE(receive({first_chunk()}).ok());
}

TEST_F(RecordingsTest, KeepsEveryRowAndGivesThemInPages) {
  constexpr int kRows = 11'130;
  constexpr int kChunk = 2'000;
  std::vector<v1::ImportChunk> chunks = {first_chunk()};
  for (int first = 0; first < kRows; first += kChunk) {
    add_rows(chunks.emplace_back(), first, std::min(kChunk, kRows - first));
  }
  const auto stored = receive(chunks);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->num_rows(), static_cast<std::uint32_t>(kRows));
  EXPECT_EQ(stored->imported_ns(), 77);
  EXPECT_EQ(recordings_->list()->recordings(0).recording_id(), stored->recording_id());

  v1::GetRecordingRequest request;
  request.set_page_size(10'000);
  int num_rows = 0;
  int num_pages = 0;
  for (;;) {
    const auto page = recordings_->get(request, 1 << 20);
    ASSERT_TRUE(page.ok()) << page.status();
    EXPECT_LE(page->ByteSizeLong(), std::size_t{1} << 20);
    if (page->rows().empty()) {
      break;
    }
    for (const v1::RecordedRow& row : page->rows()) {
      EXPECT_EQ(row.values(0), std::to_string(num_rows));
      EXPECT_EQ(row.row(), static_cast<std::uint32_t>(++num_rows));
      EXPECT_EQ(row.samples_ns_size(), 32);
      request.set_after_row(row.row());
    }
    ++num_pages;
  }
  EXPECT_EQ(num_rows, kRows);
  EXPECT_GT(num_pages, 2);
}

TEST_F(RecordingsTest, SaysWhatIsNotThereOrTooLarge) {
  EXPECT_EQ(recordings_->get({}, 1000).status().code(), absl::StatusCode::kNotFound);
  v1::GetRecordingRequest request;
  request.set_recording_id(-1);
  EXPECT_EQ(recordings_->get(request, 1000).status().message(),
            "recording_id: must not be negative");
  v1::ImportChunk chunk = first_chunk();
  add_rows(chunk, 0, 2);
  ASSERT_TRUE(receive({chunk}).ok());
  const absl::Status status = recordings_->get({}, 200).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("row 1 has bytes: "), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace assay::server
