#include "tuning/content_digest.h"

#include <gtest/gtest.h>

namespace assay::tuning {
namespace {

TEST(ContentDigest, TellsADigestFromOtherText) {
  EXPECT_FALSE(is_content_digest(""));
  EXPECT_FALSE(is_content_digest("99AA06D3014798D86001C324468D497F"));
  EXPECT_FALSE(is_content_digest("99aa06d3014798d86001c324468d497"));
  EXPECT_TRUE(is_content_digest("99aa06d3014798d86001c324468d497f"));
}

TEST(ContentDigest, IsTheCanonicalXxh3) {
  EXPECT_EQ(content_digest(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_digest("a"), content_digest("b"));
}

}  // namespace
}  // namespace assay::tuning
