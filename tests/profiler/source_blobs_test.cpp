#include "profiler/source_blobs.h"

#include "tuning/content_digest.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

v1::RunnerBlob piece_of(const std::string& all, const std::string& data) {
  v1::RunnerBlob piece;
  piece.set_digest(tuning::content_digest(all));
  piece.set_num_bytes(static_cast<std::int64_t>(all.size()));
  piece.set_data(data);
  return piece;
}

TEST(SourceBlobs, RefuseWhatIsNoDigest) {
  SourceBlobs blobs;
  v1::RunnerBlob piece = piece_of("abcd", "abcd");
  piece.set_digest("../etc");
  EXPECT_EQ(blobs.add(piece).message(), "blob.digest: must be 32 lower-case hexadecimal digits");
}

TEST(SourceBlobs, ForgetDataThatIsNotWhatWasAnnounced) {
  SourceBlobs blobs;
  EXPECT_EQ(blobs.add(piece_of("abcd", "abcx")).message(),
            "blob.digest: the data has another digest");
  EXPECT_EQ(blobs.find(tuning::content_digest("abcd")), nullptr);
  EXPECT_EQ(blobs.add(piece_of("abcd", "abcde")).message(),
            "blob.data: more than the 4 bytes that were announced");
  EXPECT_TRUE(blobs.add(piece_of("abcd", "ab")).ok());
  v1::RunnerBlob piece = piece_of("abcd", "cd");
  piece.set_num_bytes(5);
  EXPECT_EQ(blobs.add(piece).code(), absl::StatusCode::kInvalidArgument);
}

TEST(SourceBlobs, NameTheLimitAndTheSize) {
  SourceBlobs blobs;
  ASSERT_TRUE(blobs.add(piece_of("abcd", "abcd")).ok());
  v1::RunnerBlob piece = piece_of("efgh", "e");
  piece.set_num_bytes(kMostBlobBytes);
  EXPECT_EQ(blobs.add(piece).message(),
            "blob.num_bytes: data of 4,294,967,300 bytes is over the limit of 4,294,967,296");
}

TEST(SourceBlobs, PutPiecesTogether) {
  SourceBlobs blobs;
  const std::string digest = tuning::content_digest("abcd");
  ASSERT_TRUE(blobs.add(piece_of("abcd", "ab")).ok());
  EXPECT_EQ(blobs.find(digest), nullptr);
  ASSERT_TRUE(blobs.add(piece_of("abcd", "cd")).ok());
  ASSERT_NE(blobs.find(digest), nullptr);
  EXPECT_EQ(blobs.find(digest)->size(), 4U);
  ASSERT_TRUE(blobs.add(piece_of("", "")).ok());
  EXPECT_NE(blobs.find(tuning::content_digest("")), nullptr);
}

}  // namespace
}  // namespace assay::profiler
