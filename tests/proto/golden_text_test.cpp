#include "proto/golden_text.h"

#include "gtest/gtest.h"

namespace assay::proto {
namespace {

const std::string kHeader = "# assay goldens 1\n";
const std::string kDigest = "0123456789abcdef0123456789abcdef";
const std::string kLine = "qsa_decode\tkv=int8,seed=7\tout\tbaseline\tany_device\t" + kDigest;

std::string message_of(const std::string& text) {
  return std::string(parse_goldens(text).status().message());
}

v1::Golden golden(const std::string& workload) {
  v1::Golden golden;
  golden.set_operator_name("qsa_decode");
  golden.set_workload(workload);
  golden.set_tensor("out");
  golden.set_family("baseline");
  golden.set_domain("any_device");
  golden.set_digest(kDigest);
  return golden;
}

TEST(GoldenText, RefusesAnotherHeader) {
  EXPECT_EQ(message_of(""), "line 1: must be `# assay goldens 1`");
  EXPECT_EQ(message_of("# assay goldens 2\n" + kLine + "\n"),
            "line 1: must be `# assay goldens 1`");
}

TEST(GoldenText, NamesTheLineWithTheWrongNumberOfColumns) {
  EXPECT_EQ(message_of(kHeader + kLine + "\tmore\n"), "line 2: must have 6 columns, has 7");
  EXPECT_EQ(message_of(kHeader + kLine + "\n\n"), "line 3: must have 6 columns, has 1");
}

TEST(GoldenText, NamesLineAndColumnOfABadField) {
  EXPECT_EQ(message_of(kHeader + "# a comment\nqsa_decode\t\tout\tbaseline\tcpu\t" + kDigest),
            "line 3, column 2 (workload): is empty");
  EXPECT_EQ(message_of(kHeader + "q\tw\to\tb\tcpu\tABC\n"),
            "line 2, column 6 (digest): must be 32 lower-case hexadecimal digits");
  EXPECT_EQ(message_of(kHeader + kLine + "\r\n"),
            "line 2, column 6 (digest): has a control character");
}

TEST(GoldenText, RefusesAKeyTwiceAndLinesOutOfOrder) {
  const std::string other = "other\tw\tout\tbaseline\tany_device\t" + kDigest;
  EXPECT_EQ(message_of(kHeader + kLine + "\n" + kLine + "\n"),
            "line 3: has the key of the golden before");
  EXPECT_EQ(message_of(kHeader + kLine + "\n" + other + "\n"),
            "line 3: is out of order: lines must be sorted");
}

TEST(GoldenText, RefusesToWriteWhatItCouldNotRead) {
  EXPECT_EQ(format_goldens({golden("a\tb")}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(format_goldens({golden("a"), golden("a")}).status().code(),
            absl::StatusCode::kInvalidArgument);
  v1::Golden short_digest = golden("a");
  short_digest.set_digest("abc");
  EXPECT_EQ(format_goldens({short_digest}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(GoldenText, WritesTheSameBytesWhateverTheOrderAndReadsThemBack) {
  const auto text = format_goldens({golden("b"), golden("a")});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, *format_goldens({golden("a"), golden("b")}));
  const auto goldens = parse_goldens(*text);
  ASSERT_TRUE(goldens.ok()) << goldens.status();
  ASSERT_EQ(goldens->size(), 2U);
  EXPECT_EQ(goldens->at(0).SerializeAsString(), golden("a").SerializeAsString());
  EXPECT_EQ(goldens->at(1).SerializeAsString(), golden("b").SerializeAsString());
  EXPECT_TRUE(parse_goldens(kHeader)->empty());
}

}  // namespace
}  // namespace assay::proto
