#include "client/table.h"

#include <gtest/gtest.h>

namespace assay::client {
namespace {

Table small_table() {
  return {{{"name"}, {"us", Align::kRight}}, {{"one_cell", "12.34"}, {"µ|x", "1,234"}, {"short"}}};
}

TEST(Table, RefusesAnUnknownFormatAndListsTheValidOnes) {
  const auto format = parse_format("yaml");
  ASSERT_TRUE(absl::IsInvalidArgument(format.status()));
  EXPECT_EQ(format.status().message(), "format `yaml`: expected one of csv, json, markdown, table");
}

TEST(Table, KeepsTerminalAndMarkdownSafeFromTheirCells) {
  const Table table{{{"label"}}, {{"\033[2J<script>a|b*"}}};
  EXPECT_EQ(aligned_text(table), "label\n [2J<script>a|b*\n");
  EXPECT_EQ(markdown_text(table),
            "| label                 |\n"
            "| --------------------- |\n"
            "|  [2J&lt;script>a\\|b\\* |\n");
}

TEST(Table, AlignsByCharactersNotBytes) {
  EXPECT_EQ(aligned_text(small_table()),
            "name         us\n"
            "one_cell  12.34\n"
            "µ|x       1,234\n"
            "short\n");
}

TEST(Table, WritesATableOfMarkdown) {
  EXPECT_EQ(markdown_text(small_table()),
            "| name     |    us |\n"
            "| -------- | ----: |\n"
            "| one_cell | 12.34 |\n"
            "| µ\\|x     | 1,234 |\n"
            "| short    |       |\n");
}

TEST(Table, QuotesCellsOfCsvWhereNeeded) {
  const Table table{{{"a"}, {"b"}}, {{"1,234", "say \"no\""}, {"plain", "two\nlines"}}};
  EXPECT_EQ(csv_text(table), "a,b\n\"1,234\",\"say \"\"no\"\"\"\nplain,\"two\nlines\"\n");
}

}  // namespace
}  // namespace assay::client
