#include "client/input_file.h"

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::client {
namespace {

TEST(InputFile, SaysWhyAFileCannotBeRead) {
  const Folder folder;
  EXPECT_EQ(read_file(folder / "none", 10).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(read_file(folder / ".", 10).status().code(), absl::StatusCode::kNotFound);
  const absl::Status large = read_file("/dev/zero", 1'000'000).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(large.message(), "larger than 1,000,000 bytes, the limit");
}

TEST(InputFile, WritesANewFileAndReplacesOnlyWhenAsked) {
  const Folder folder;
  const std::string path = folder / "a.txt";
  ASSERT_TRUE(write_file(path, "one", false).ok());
  EXPECT_EQ(write_file(path, "two", false).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(*read_text(path, 10), "one");
  ASSERT_TRUE(write_file(path, "two", true).ok());
  EXPECT_EQ(*read_text(path, 10), "two");
  EXPECT_EQ(write_file(folder / "none/a.txt", "", false).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(base_name(path), "a.txt");
  EXPECT_EQ(base_name("a.txt"), "a.txt");
}

}  // namespace
}  // namespace assay::client
