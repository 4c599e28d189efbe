#include "client/git_checkout.h"

#include "client/bounded_process.h"
#include "tests/temporary_folder.h"

#include <fstream>

namespace assay::client {
namespace {

std::chrono::steady_clock::time_point in_a_minute() {
  return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

// A repository with one commit, of the first second of 2026.
class Checkout : public testing::Test {
 protected:
  void SetUp() override {
    if (!output_of({"git", "--version"}, in_a_minute(), 1'000)) {
      GTEST_SKIP() << "no git";
    }
    std::filesystem::create_directory(path());
    write("kernel.cu", "one");
    git({"init", "--quiet", "--initial-branch=main"});
    git({"add", "kernel.cu"});
    ASSERT_TRUE(output_of({"env",
                           "GIT_AUTHOR_DATE=1767225600 +0200",
                           "GIT_COMMITTER_DATE=1767225600 +0200",
                           "git",
                           "-C",
                           path(),
                           "-c",
                           "user.name=A > B 77",
                           "-c",
                           "user.email=a@b",
                           "commit",
                           "--quiet",
                           "-m",
                           "committer x 5 +0000"},
                          in_a_minute(),
                          1'000));
    commit_ = git({"rev-parse", "HEAD"}).substr(0, 40);
  }

  std::string path(const std::string& name = "") const { return folder_ / ("checkout/" + name); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  std::string git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", path()});
    const auto text = output_of(arguments, in_a_minute(), 10'000);
    EXPECT_TRUE(text) << arguments[3];
    return text.value_or("");
  }

  Folder folder_;
  std::string commit_;
};

TEST_F(Checkout, TellsCommitTimeBranchAndChanges) {
  v1::Context context = read_checkout(path());
  EXPECT_EQ(context.commit(), commit_);
  EXPECT_EQ(context.committed_ns(), 1'767'225'600'000'000'000);
  EXPECT_EQ(context.branch(), "main");
  EXPECT_FALSE(context.dirty());
  write("untracked", "");
  EXPECT_FALSE(read_checkout(path()).dirty());
  write("kernel.cu", "two and more");
  EXPECT_TRUE(read_checkout(path()).dirty());
  std::filesystem::create_directory(path("inner"));
  EXPECT_EQ(read_checkout(path("inner")).commit(), commit_);
  git({"checkout", "--quiet", "--detach"});
  context = read_checkout(path());
  EXPECT_EQ(context.branch(), "");
  EXPECT_EQ(context.commit(), commit_);
}

TEST_F(Checkout, TellsNothingWhereThereIsNone) {
  EXPECT_EQ(read_checkout(folder_ / "nowhere").ByteSizeLong(), 0U);
  std::filesystem::create_directory(folder_ / "plain");
  // Else one that the folder of temporary files lies in would be found.
  std::ofstream(folder_ / "plain/.git") << "none";
  EXPECT_EQ(read_checkout(folder_ / "plain").ByteSizeLong(), 0U);
}

TEST_F(Checkout, TellsABranchWithoutACommit) {
  git({"checkout", "--quiet", "--orphan", "next"});
  const v1::Context context = read_checkout(path());
  EXPECT_EQ(context.commit(), "");
  EXPECT_EQ(context.branch(), "next");
}

TEST_F(Checkout, RunsNothingThatTheRepositoryNames) {
  const std::string script = path("run.sh");
  write("run.sh", "#!/bin/sh\ntouch " + folder_ / "ran\ncat\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  for (const char* hook : {"fsmonitor-watchman", "post-index-change", "post-checkout"}) {
    std::filesystem::create_directories(path(".git/hooks"));
    std::filesystem::copy_file(script, path(std::string(".git/hooks/") + hook));
  }
  for (const char* name : {"core.fsmonitor",
                           "core.pager",
                           "gpg.program",
                           "filter.own.clean",
                           "filter.own.process",
                           "diff.external",
                           "core.sshCommand",
                           "core.askPass"}) {
    git({"config", name, script});
  }
  git({"config", "log.showSignature", "true"});
  write(".gitattributes", "*.cu filter=own diff=own\n");
  write("kernel.cu", "tw0");
  const v1::Context context = read_checkout(path());
  EXPECT_EQ(context.commit(), commit_);
  EXPECT_EQ(context.branch(), "main");
  EXPECT_EQ(read_commit(path(), commit_.substr(0, 9)).committed_ns(), context.committed_ns());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
  // The repository would have run it.
  EXPECT_TRUE(output_of({"git", "-C", path(), "status"}, in_a_minute(), 10'000));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ran"));
}

TEST_F(Checkout, CompletesACommitThatItHas) {
  v1::Context context = read_commit(path(), commit_.substr(0, 7));
  EXPECT_EQ(context.commit(), commit_);
  EXPECT_EQ(context.committed_ns(), 1'767'225'600'000'000'000);
  EXPECT_EQ(context.branch(), "");
  context = read_commit(path(), "0123456");
  EXPECT_EQ(context.commit(), "0123456");
  EXPECT_EQ(context.committed_ns(), 0);
}

TEST(BoundedProcess, EndsWhatDoesNotEndByItself) {
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  EXPECT_EQ(output_of({"sleep", "600"}, soon, 100), std::nullopt);
  // A grandchild keeps the pipe open.
  EXPECT_EQ(output_of({"sh", "-c", "sleep 600 & echo x"}, soon, 100), std::nullopt);
  EXPECT_EQ(output_of({"yes"}, in_a_minute(), 5), "y\ny\ny");
}

TEST(BoundedProcess, GivesWhatWasWrittenByWhatEndedWell) {
  EXPECT_EQ(output_of({"echo", "$HOME"}, in_a_minute(), 100), "$HOME\n");
  EXPECT_EQ(output_of({"cat"}, in_a_minute(), 100), "");
  EXPECT_EQ(output_of({"false"}, in_a_minute(), 100), std::nullopt);
  EXPECT_EQ(output_of({"no-such-program-here"}, in_a_minute(), 100), std::nullopt);
}

}  // namespace
}  // namespace assay::client
