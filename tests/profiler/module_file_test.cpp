#include "profiler/module_file.h"

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

class ModuleFile : public testing::Test {
 protected:
  std::string file(const std::string& name, mode_t mode = 0644) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << "bytes";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  static std::string refusal(const std::string& path) {
    return std::string(check_module_file(path).message());
  }

  Folder folder_;
};

TEST_F(ModuleFile, RefusesANameThatIsNotPlain) {
  for (const char* name : {"a b.so", ".so", "a.1.so", "a.dll", "\xc3\xa4.so"}) {
    EXPECT_EQ(check_module_file(file(name)).code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_FALSE(module_name_of(folder_ / (std::string(65, 'a') + ".so")).ok());
  EXPECT_EQ(*module_name_of("some/where/two_cell-2.so"), "two_cell-2");
}

TEST_F(ModuleFile, RefusesWhatOthersMayWriteTo) {
  EXPECT_EQ(refusal(file("a.so", 0664)), "it is writable by others than its owner (chmod go-w)");
  EXPECT_EQ(refusal(file("b.so", 0646)), "it is writable by others than its owner (chmod go-w)");
}

TEST_F(ModuleFile, RefusesALinkAndAFolder) {
  const std::string link = folder_ / "link.so";
  std::filesystem::create_symlink(file("a.so"), link);
  EXPECT_EQ(refusal(link), "it is a link, not a file");
  std::filesystem::create_directory(folder_ / "folder.so");
  EXPECT_EQ(refusal(folder_ / "folder.so"), "it is no regular file");
}

TEST_F(ModuleFile, RefusesWhatIsNotThere) {
  EXPECT_EQ(check_module_file(folder_ / "none.so").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(list_module_files(folder_ / "none").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ModuleFile, RefusesAFolderThatOthersMayWriteTo) {
  const std::string path = file("a.so");
  ASSERT_EQ(chmod((folder_ / "").c_str(), 0777), 0);
  EXPECT_EQ(refusal(path), "its folder is writable by others than its owner (chmod go-w)");
}

TEST_F(ModuleFile, RefusesAnotherUsersFile) {
  const std::string path = file("a.so");
  if (chown(path.c_str(), 12345, static_cast<gid_t>(-1)) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  EXPECT_EQ(refusal(path), "it belongs to user 12345; it must be root's or this user's");
}

TEST_F(ModuleFile, TakesAPlainFileAndListsTheFolderSorted) {
  const std::string b = file("b.so", 0755);
  const std::string a = file("a.so");
  file("readme.txt");
  EXPECT_TRUE(check_module_file(a).ok()) << check_module_file(a);
  EXPECT_TRUE(check_module_file(b).ok()) << check_module_file(b);
  EXPECT_EQ(*list_module_files(folder_ / ""), (std::vector<std::string>{folder_ / "a.so", b}));
}

TEST_F(ModuleFile, TellsAReplacedFileByItsStamp) {
  const std::string path = file("a.so");
  const FileStamp before = stamp_of(path);
  EXPECT_EQ(stamp_of(path), before);
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_NE(stamp_of(path), before);
  EXPECT_EQ(stamp_of(folder_ / "none.so"), FileStamp());
}

TEST(ModuleOfOperator, IsWhatStandsBeforeTheDot) {
  EXPECT_EQ(module_of_operator("qsa_decode"), "");
  EXPECT_EQ(module_of_operator("saxpy.scale"), "saxpy");
}

}  // namespace
}  // namespace assay::profiler
