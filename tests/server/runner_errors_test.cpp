#include "server/runner_errors.h"

#include "proto/text.h"

#include <gtest/gtest.h>

#include <array>
#include <unistd.h>

namespace assay::server {
namespace {

std::string last_of(const std::string& bytes) {
  LastLine last;
  last.add(bytes);
  return last.text();
}

TEST(LastLine, IsTheLastThatIsNotBlank) {
  EXPECT_EQ(last_of(""), "");
  EXPECT_EQ(last_of("\n \r\n"), "");
  EXPECT_EQ(last_of("one\ntwo\n\n"), "two");
  EXPECT_EQ(last_of("one\r\ntwo\r\n \t"), "two");
  EXPECT_EQ(last_of("one\npassword: "), "password: ");
  LastLine last;
  last.add("on");
  last.add("e\ntw");
  last.add("o");
  EXPECT_EQ(last.text(), "two");
}

TEST(LastLine, IsCutAtACharacter) {
  EXPECT_EQ(last_of(std::string(1'000, 'a') + "\n"), std::string(kMaxErrorLineBytes, 'a'));
  const std::string euro = "\xe2\x82\xac";
  for (std::size_t lead = kMaxErrorLineBytes - 3; lead <= kMaxErrorLineBytes; ++lead) {
    const std::string text = last_of(std::string(lead, 'a') + euro + euro);
    EXPECT_EQ(text, std::string(lead, 'a') + (lead == kMaxErrorLineBytes - 3 ? euro : ""));
  }
}

TEST(LastLine, HoldsWhatAMessageMayHold) {
  EXPECT_EQ(last_of("\x1b[31mred\x07"), " [31mred ");
  EXPECT_EQ(last_of("caf\xe9"), "caf?");
  EXPECT_EQ(last_of("caf\xc3\xa9"), "caf\xc3\xa9");
  EXPECT_TRUE(proto::is_utf8(last_of(std::string(300, '\xff'))));
}

TEST(RunnerErrors, HasReadAllThatWasWrittenAndWaitsForNoWriter) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  {
    auto errors = RunnerErrors::of(ends[0]);
    ASSERT_TRUE(errors.ok()) << errors.status();
    for (const std::string line : {"first\n", "second\n"}) {
      ASSERT_EQ(write(ends[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
      EXPECT_EQ((*errors)->last_line() + "\n", line);
    }
  }
  EXPECT_EQ(close(ends[1]), 0);
}

}  // namespace
}  // namespace assay::server
