#include "server/http_target.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

TEST(HttpTarget, RefusesWhatIsNoAddress) {
  for (const char* target : {"",
                             "v1/List",
                             "http://elsewhere/v1/List",
                             "/a%",
                             "/a%2",
                             "/a%zz",
                             "/%00",
                             "/?a=%00",
                             "/%ff",
                             "/?%c0%af=1",
                             "/\xff"}) {
    EXPECT_EQ(parse_target(target).status().code(), absl::StatusCode::kInvalidArgument) << target;
  }
}

TEST(HttpTarget, DecodesPathAndQuery) {
  const auto target = parse_target("/a%20b+c?x+y=1%2B1&axes=kv=int8&axes=n&&flag#part");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->path, "/a b+c");
  EXPECT_EQ(target->query,
            (Query{{"x y", "1+1"}, {"axes", "kv=int8"}, {"axes", "n"}, {"flag", ""}}));
}

TEST(HttpTarget, ReadsAPercentSignAtTheEnd) {
  EXPECT_EQ(parse_target("/a%2F")->path, "/a/");
  EXPECT_EQ(parse_target("/a?b=%C3%BC")->query, (Query{{"b", "\xc3\xbc"}}));
}

}  // namespace
}  // namespace assay::server
