#include "client/gzip.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::client {
namespace {

// "hello hello hello" as a gzip file.
const std::string kPacked(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x00"
    "\x80\x88\xf9\xe5\x11\x00\x00\x00",
    28);

TEST(Gzip, RefusesWhatIsDamagedCutOrTooLarge) {
  EXPECT_FALSE(is_gzip("{}"));
  EXPECT_FALSE(is_gzip(""));
  for (std::size_t size = 2; size < kPacked.size(); ++size) {
    EXPECT_EQ(gunzip(kPacked.substr(0, size), 100).status().message(),
              "gzip: the file ends before its end")
        << size;
  }
  std::string damaged = kPacked;
  damaged[22] = static_cast<char>(damaged[22] ^ 1);
  EXPECT_EQ(gunzip(damaged, 100).status().message(), "gzip: damaged: incorrect data check");
  const absl::Status large = gunzip(kPacked, 16).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(large.message(), "gzip: unpacks to more than 16 bytes, the limit");
}

TEST(Gzip, UnpacksEveryMember) {
  EXPECT_TRUE(is_gzip(kPacked));
  EXPECT_EQ(*gunzip(kPacked, 17), "hello hello hello");
  EXPECT_EQ(*gunzip(kPacked + kPacked, 100), "hello hello hellohello hello hello");
}

}  // namespace
}  // namespace assay::client
