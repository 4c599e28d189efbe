#include "client/axis.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::client {
namespace {

std::string message_of(const std::string& text) {
  const auto axis = parse_axis(text);
  EXPECT_TRUE(absl::IsInvalidArgument(axis.status())) << text;
  return std::string(axis.status().message());
}

std::vector<std::string> values_of(const std::string& text) {
  const auto axis = parse_axis(text);
  EXPECT_TRUE(axis.ok()) << axis.status();
  return axis.ok() ? std::vector<std::string>(axis->values().begin(), axis->values().end())
                   : std::vector<std::string>();
}

using Values = std::vector<std::string>;

TEST(Axis, SaysAtWhichPositionWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kv", "position 3: missing `=`"},
      {"=int8", "position 1: missing the axis name"},
      {"k v=int8", "position 2: a name has letters"},
      {"kv=", "position 4: missing a value"},
      {"kv=fp16,int8", "position 8: lists and ranges stand in brackets"},
      {"n_q=1:4", "position 6: lists and ranges stand in brackets"},
      {"kv=[fp16,int8", "position 14: missing `]`"},
      {"kv=[fp16]x", "position 10: nothing may follow `]`"},
      {"kv=[fp16,,int8]", "position 10: missing a value"},
      {"kv=[]", "position 5: missing a value"},
      {"kv=[[1]]", "position 8: nothing may follow `]`"},
      {"kv=[a,[b]", "position 7: brackets do not nest"},
      {"n_q=[1:]", "position 8: missing a value"},
      {"n_q=[a:4]", "position 6: `a` is not an integer"},
      {"n_q=[4:1]", "position 8: the last value is below the first"},
      {"n_q=[1:9:0]", "position 10: the step is below 1"},
      {"n_q=[1:9:2:1]", "position 12: a range has at most three parts"},
      {"n_q=[1:4,9]", "position 9: a range holds no list"},
      {"n_q=[0:1000000]", "position 6: more than 1,000,000 values"},
      {"n_q=[-9223372036854775808:9223372036854775807]", "position 6: more than 1,000,000"},
      {"slots[pow3]=[0:4]", "position 6: after the name only `[pow2]` may stand"},
      {"slots[pow2]=[0:63]", "position 14: the power 63 is not in [0, 62]"},
      {"slots[pow2]=x", "position 13: `x` is not an integer"},
      {"kv=[int8,int8]", "position 10: the value `int8` stands twice"},
  };
  for (const auto& [text, expected] : cases) {
    const std::string message = message_of(text);
    EXPECT_NE(message.find(expected), std::string::npos) << text << ": " << message;
    EXPECT_NE(message.find("expected NAME=VALUE"), std::string::npos) << message;
  }
}

TEST(Axis, RefusesOneAxisGivenTwice) {
  const auto axes = parse_axes({"kv=int8", "n_q=1", "kv=fp16"});
  ASSERT_TRUE(absl::IsInvalidArgument(axes.status()));
  EXPECT_NE(std::string(axes.status().message()).find("`kv` is given twice"), std::string::npos);
}

TEST(Axis, ReadsOneValueAndLists) {
  EXPECT_EQ(values_of("kv=int8"), (Values{"int8"}));
  EXPECT_EQ(values_of("kv=[int8]"), (Values{"int8"}));
  EXPECT_EQ(values_of("kv=[fp16, int8]"), (Values{"fp16", "int8"}));
  EXPECT_EQ(values_of("x=a=b"), (Values{"a=b"}));
}

TEST(Axis, ExpandsRangesWithBothEnds) {
  EXPECT_EQ(values_of("n_q=[1:4]"), (Values{"1", "2", "3", "4"}));
  EXPECT_EQ(values_of("n_q=[1:9:2]"), (Values{"1", "3", "5", "7", "9"}));
  EXPECT_EQ(values_of("n_q=[1:8:3]"), (Values{"1", "4", "7"}));
  EXPECT_EQ(values_of("n_q=[-1:1]"), (Values{"-1", "0", "1"}));
  EXPECT_EQ(values_of("n_q=[3:3]"), (Values{"3"}));
  EXPECT_EQ(values_of("n_q=[9223372036854775806:9223372036854775807]").size(), 2U);
  EXPECT_EQ(values_of("n_q=[1:1000000]").size(), 1'000'000U);
}

TEST(Axis, TakesPowersOfTwo) {
  EXPECT_EQ(values_of("slots[pow2]=[0:4]"), (Values{"1", "2", "4", "8", "16"}));
  EXPECT_EQ(values_of("slots[pow2]=[1,3]"), (Values{"2", "8"}));
  EXPECT_EQ(values_of("slots[pow2]=62"), (Values{"4611686018427387904"}));
  EXPECT_EQ(parse_axis("slots[pow2]=[0:4]")->name(), "slots");
}

}  // namespace
}  // namespace assay::client
