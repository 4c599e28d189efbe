#include "server/markdown.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

TEST(Markdown, KeepsCodeLiteral) {
  EXPECT_EQ(markdown_code(""), "-");
  EXPECT_EQ(markdown_code("two_cell, n=<b>*x*</b> @all $x$"), "`two_cell, n=<b>*x*</b> @all $x$`");
  // A code span cannot hold these inside a table.
  EXPECT_EQ(markdown_code("a|b"), "<code>a&#124;b</code>");
  EXPECT_EQ(markdown_code("a\\b"), "<code>a&#92;b</code>");
  EXPECT_EQ(markdown_code("a`|\\<b"), "<code>a&#96;&#124;&#92;&#60;b</code>");
  EXPECT_EQ(markdown_code("`</code>@x"), "<code>&#96;&#60;&#47;code&#62;&#64;x</code>");
}

TEST(Markdown, EscapesProse) {
  EXPECT_EQ(markdown_prose("faster: 0.57 of it (12 rounds), 1.00 %"),
            "faster: 0.57 of it (12 rounds), 1.00 %");
  EXPECT_EQ(markdown_prose("`out` two_cell _x_ a|b <img src=x> [a](b) #3 &amp; ~~"),
            "\\`out\\` two_cell \\_x\\_ a\\|b \\<img src=x\\> \\[a\\](b) \\#3 \\&amp; \\~\\~");
  EXPECT_EQ(markdown_prose("ask @alice"), "`ask @alice`");
  EXPECT_EQ(markdown_prose("\\|"), "\\\\\\|");
}

TEST(Markdown, WritesTables) {
  EXPECT_EQ(MarkdownTable({{{"a"}, {"b", true}}, {}}).text(), "");
  EXPECT_EQ(MarkdownTable({{{"a"}, {"b", true}}, {{"x", "1"}, {"y"}}}).text(),
            "| a | b |\n|---|---:|\n| x | 1 |\n| y |  |\n\n");
}

}  // namespace
}  // namespace assay::server
