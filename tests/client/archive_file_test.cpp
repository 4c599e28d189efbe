#include "client/archive_file.h"

#include "client/new_file.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::client {
namespace {

class ArchiveFileTest : public testing::Test {
 protected:
  static v1::ArchiveEntry entry(std::int64_t id) {
    v1::ArchiveEntry entry;
    entry.mutable_experiment()->set_experiment_id(id);
    entry.mutable_experiment()->set_message(std::string(1'000, 'x'));
    return entry;
  }

  std::string write(int num) const {
    const std::string path = folder_ / "experiments.assay";
    auto writer = ArchiveFileWriter::create(path, true);
    EXPECT_TRUE(writer.ok()) << writer.status();
    for (int i = 0; i < num; ++i) {
      EXPECT_TRUE((*writer)->add(entry(i)).ok());
    }
    EXPECT_TRUE((*writer)->finish().ok());
    return path;
  }

  static std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // How many entries can be read, and how that ends.
  static std::pair<int, absl::Status> read(const std::string& path) {
    auto reader = ArchiveFileReader::open(path);
    if (!reader.ok()) {
      return {0, reader.status()};
    }
    v1::ArchiveEntry found;
    for (int num = 0;; ++num) {
      const absl::StatusOr<bool> is_there = (*reader)->next(found);
      if (!is_there.ok() || !*is_there) {
        return {num, is_there.status()};
      }
    }
  }

  Folder folder_;
};

TEST_F(ArchiveFileTest, ReadsBackWhatItWrote) {
  const std::string path = write(100);
  EXPECT_TRUE(is_archive(path));
  const auto [num, status] = read(path);
  EXPECT_EQ(num, 100);
  EXPECT_TRUE(status.ok()) << status;
  auto reader = ArchiveFileReader::open(path);
  v1::ArchiveEntry found;
  for (int id = 0; id < 100; ++id) {
    ASSERT_TRUE(*(*reader)->next(found));
    EXPECT_EQ(found.SerializeAsString(), entry(id).SerializeAsString());
  }
}

TEST_F(ArchiveFileTest, TellsAFileThatIsCutOffAnywhere) {
  const std::string path = write(20);
  const std::string bytes = bytes_of(path);
  for (std::size_t size = bytes.size() - 1; size > 30; --size) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    EXPECT_FALSE(read(path).second.ok()) << size << " of " << bytes.size() << " bytes";
  }
}

TEST_F(ArchiveFileTest, RefusesAnEntryThatNoDaemonWouldTake) {
  const std::string path = folder_ / "experiments.assay";
  auto writer = ArchiveFileWriter::create(path, true);
  ASSERT_TRUE(writer.ok()) << writer.status();
  v1::ArchiveEntry large = entry(1);
  large.mutable_experiment()->set_message(std::string(17 << 20, 'x'));
  ASSERT_TRUE((*writer)->add(large).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  const auto [num, status] = read(path);
  EXPECT_EQ(num, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(std::string(status.message()).find("at most 16,777,216"), std::string::npos) << status;
}

TEST_F(ArchiveFileTest, TellsAFileOfWhichAByteWasChanged) {
  const std::string path = write(20);
  const std::string bytes = bytes_of(path);
  for (std::size_t place = 40; place < bytes.size(); place += 5) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] ^ 0x10);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    EXPECT_FALSE(read(path).second.ok()) << place;
  }
}

TEST_F(ArchiveFileTest, TellsOtherFiles) {
  const std::string path = folder_ / "other.json";
  std::ofstream(path) << "{}";
  EXPECT_FALSE(is_archive(path));
  EXPECT_EQ(read(path).second, absl::InvalidArgumentError("is no archive of experiments"));
  EXPECT_EQ(read(folder_ / "none").second.code(), absl::StatusCode::kNotFound);
}

TEST_F(ArchiveFileTest, LeavesNothingOfAFileThatWasNotFinished) {
  const std::string path = folder_ / "new";
  {
    const auto file = NewFile::create(path, false);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->write("half").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
}

TEST_F(ArchiveFileTest, LetsTheOwnerAloneReadWhatIsTheirs) {
  const std::string path = folder_ / "copy.db";
  const auto file = NewFile::create(path, false, Readers::kOwner);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->finish().ok());
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(ArchiveFileTest, WritesOverAFileOnlyWhenAsked) {
  const std::string path = folder_ / "there";
  const auto file = NewFile::create(path, false);
  ASSERT_TRUE(file.ok()) << file.status();
  std::ofstream(path) << "theirs";
  EXPECT_EQ(NewFile::create(path, false).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ((*file)->finish().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(bytes_of(path), "theirs");
}

TEST_F(ArchiveFileTest, WritesOverAFileWhenAskedTo) {
  const std::string path = folder_ / "there";
  std::ofstream(path) << "theirs";
  const auto file = NewFile::create(path, true);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_TRUE((*file)->write("ours").ok());
  EXPECT_EQ(bytes_of(path), "theirs");
  ASSERT_TRUE((*file)->finish().ok());
  EXPECT_EQ(bytes_of(path), "ours");
}

}  // namespace
}  // namespace assay::client
