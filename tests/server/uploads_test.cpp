#include "server/uploads.h"

#include "tests/temporary_folder.h"
#include "tuning/content_digest.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace assay::server {
namespace {

constexpr std::int64_t kLimit = std::int64_t{2} << 20;

class UploadsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = db::Store::open({.path = folder_ / "assay.db"});
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
    uploads_ = std::make_unique<Uploads>(*store_, kLimit, [] { return 7; });
  }

  static std::vector<v1::UploadChunk> chunks_of(const std::vector<std::string>& pieces) {
    std::vector<v1::UploadChunk> chunks;
    std::string all;
    for (const std::string& piece : pieces) {
      chunks.emplace_back().set_data(piece);
      all += piece;
    }
    chunks.front().set_digest(tuning::content_digest(all));
    chunks.front().set_num_bytes(static_cast<std::int64_t>(all.size()));
    return chunks;
  }

  absl::StatusOr<v1::UploadResponse> receive(const std::vector<v1::UploadChunk>& chunks) {
    std::size_t at = 0;
    return uploads_->receive([&](v1::UploadChunk& chunk) {
      if (at == chunks.size()) {
        return false;
      }
      chunk = chunks[at++];
      return true;
    });
  }

  std::string error_of(const std::vector<v1::UploadChunk>& chunks) {
    return receive(chunks).status().ToString();
  }

  bool is_here(const std::string& digest) const { return *store_->has_blob(digest); }

  Folder folder_;
  std::unique_ptr<db::Store> store_;
  std::unique_ptr<Uploads> uploads_;
};

TEST_F(UploadsTest, StoresNothingOfWhatIsNotWholeOrNotWhatItSays) {
  EXPECT_EQ(error_of({}), "INVALID_ARGUMENT: digest: there is no first chunk");
  auto chunks = chunks_of({"some ", "bytes"});
  const std::string digest = chunks[0].digest();
  chunks[0].set_digest("../some");
  EXPECT_EQ(error_of(chunks),
            "INVALID_ARGUMENT: digest: `../some` is not 32 lower-case hexadecimal digits");
  chunks = chunks_of({"some ", "bytes"});
  chunks.pop_back();
  EXPECT_EQ(error_of(chunks), "INVALID_ARGUMENT: data: ends after 5 bytes of 10 bytes");
  chunks = chunks_of({"some ", "bytes"});
  chunks[1].set_data("bytes and more");
  EXPECT_EQ(error_of(chunks), "INVALID_ARGUMENT: data: goes on behind num_bytes, 10 bytes");
  chunks[1].set_data("BYTES");
  EXPECT_EQ(
      error_of(chunks),
      "DATA_LOSS: data: its digest is " + tuning::content_digest("some BYTES") + ", not " + digest);
  EXPECT_FALSE(is_here(digest));
  EXPECT_FALSE(is_here(tuning::content_digest("some BYTES")));
}

TEST_F(UploadsTest, NamesLimitAndSizeOfWhatIsTooLarge) {
  auto chunks = chunks_of({"a"});
  chunks[0].set_num_bytes(kLimit + 1);
  EXPECT_EQ(error_of(chunks),
            "RESOURCE_EXHAUSTED: num_bytes: 2,097,153 bytes, the limit is 2,097,152 bytes (assayd "
            "--max-upload-bytes)");
  EXPECT_EQ(error_of(chunks_of({std::string((1 << 20) + 1, 'a')})),
            "RESOURCE_EXHAUSTED: data: 1,048,577 bytes in a chunk, the limit is 1,048,576 bytes");
  v1::FindBlobsRequest request;
  for (int i = 0; i <= kMaxDigests; ++i) {
    request.add_digests(std::string(32, 'a'));
  }
  EXPECT_EQ(uploads_->find(request).status().ToString(),
            "RESOURCE_EXHAUSTED: digests: 10,001, the limit is 10,000");
}

TEST_F(UploadsTest, HoldsNoMoreInWorkThanItsLimit) {
  const auto whole = chunks_of({std::string(1 << 20, 'a'), std::string(1 << 20, 'b')});
  absl::Status refused;
  // Each upload asks for its first chunk, then lets the next one begin.
  const std::function<void(int)> nest = [&](int depth) {
    std::size_t at = 0;
    const auto received = uploads_->receive([&](v1::UploadChunk& chunk) {
      if (at == 1) {
        nest(depth + 1);
      }
      if (at == whole.size()) {
        return false;
      }
      chunk = whole[at++];
      return true;
    });
    if (!received.ok()) {
      EXPECT_EQ(depth, 4);
      refused = received.status();
    }
  };
  nest(0);
  EXPECT_EQ(refused.ToString(),
            "RESOURCE_EXHAUSTED: num_bytes: 2,097,152 bytes beside 8,388,608 bytes of uploads in "
            "work, the limit is 8,388,608 bytes: try again later");
  EXPECT_TRUE(receive(whole).ok());
}

TEST_F(UploadsTest, SaysWhichDigestsAreMissing) {
  const auto chunks = chunks_of({"some ", "", "bytes"});
  const auto kept = receive(chunks);
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(kept->digest(), chunks[0].digest());
  EXPECT_EQ(*store_->blob(kept->digest()), "some bytes");
  ASSERT_TRUE(receive(chunks).ok());
  const auto empty = receive(chunks_of({""}));
  ASSERT_TRUE(empty.ok()) << empty.status();
  v1::FindBlobsRequest request;
  request.add_digests(kept->digest());
  request.add_digests(std::string(32, 'a'));
  request.add_digests(empty->digest());
  const auto found = uploads_->find(request);
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->missing_size(), 1);
  EXPECT_EQ(found->missing(0), std::string(32, 'a'));
  request.add_digests("x");
  EXPECT_EQ(uploads_->find(request).status().message(),
            "digests[3]: `x` is not 32 lower-case hexadecimal digits");
}

}  // namespace
}  // namespace assay::server
