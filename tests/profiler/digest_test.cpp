#include "profiler/digest.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

std::vector<std::byte> counting_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::byte>(i * 131 + i / 256);
  }
  return bytes;
}

TEST(Digest, RefusesTextThatIsNot32HexadecimalDigits) {
  for (const std::string text : {"",
                                 "00",
                                 "0011223344556677 899aabbccddeeff",
                                 "00112233445566778899aabbccddeefff",
                                 "g0112233445566778899aabbccddeeff"}) {
    EXPECT_EQ(Digest::parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(Digest, GoesToTextAndBack) {
  const Digest digest(0x0011223344556677ULL, 0x8899aabbccddeeffULL);
  EXPECT_EQ(digest.to_hex(), "00112233445566778899aabbccddeeff");
  EXPECT_EQ(*Digest::parse("00112233445566778899AABBCCDDEEFF"), digest);
  EXPECT_EQ(Digest().to_hex(), std::string(32, '0'));
}

// The published XXH3-128 of no bytes (seed 0), so that the text is the canonical one.
TEST(Digest, IsTheCanonicalXxh3) {
  EXPECT_EQ(digest_bytes({}).to_hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Digest, TellsShapeAndDtypeOfTheSameBytesApart) {
  const auto bytes = counting_bytes(64);
  std::set<std::string> digests;
  for (const std::string dtype : {"f32", "i32"}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{16}, {4, 4}, {2, 8}, {16, 1}}) {
      digests.insert(digest_tensor(whole_tensor("out", dtype, shape), bytes.data()).to_hex());
    }
  }
  EXPECT_EQ(digests.size(), 8U);
}

TEST(Digest, ChangesWithEveryLiveByteAndWithNoOther) {
  TensorLayout layout = whole_tensor("out", "bf16", {32});
  layout.live = {{0, 5}, {7, 30}};
  auto bytes = counting_bytes(64);
  const Digest before = digest_tensor(layout, bytes.data());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    const bool is_live = i < 10 || (i >= 14 && i < 60);
    EXPECT_EQ(digest_tensor(layout, bytes.data()) != before, is_live) << i;
    bytes[i] ^= std::byte{1};
  }
}

TEST(Digest, IsTheSameInPieces) {
  const auto bytes = counting_bytes(100'000);
  const TensorLayout layout = whole_tensor("out", "u8", {100'000});
  for (const std::size_t piece : {1U, 7U, 256U, 65'536U}) {
    TensorDigester digester(layout);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      digester.update(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
    }
    EXPECT_EQ(digester.finish(), digest_tensor(layout, bytes.data()));
  }
}

TEST(Digest, OfDigestsDependsOnNamesAndOrder) {
  const Digest one(1, 2);
  const Digest two(3, 4);
  using Named = std::vector<std::pair<std::string, Digest>>;
  const Digest digest = digest_of_digests(Named{{"out", one}, {"partial", two}});
  EXPECT_EQ(digest, digest_of_digests(Named{{"out", one}, {"partial", two}}));
  EXPECT_NE(digest, digest_of_digests(Named{{"partial", two}, {"out", one}}));
  EXPECT_NE(digest, digest_of_digests(Named{{"out", two}, {"partial", one}}));
  EXPECT_NE(digest, digest_of_digests(Named{{"outp", one}, {"artial", two}}));
}

}  // namespace
}  // namespace assay::profiler
