#include "server/module_runners.h"

#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace assay::server {
namespace {

// With files that no runner opens: the fake one has the same operator whatever its module is.
class ModuleRunnersTest : public testing::Test {
 protected:
  std::string file(const std::string& name, mode_t mode = 0644) const {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::app) << "bytes";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  static ModuleRunners make(const std::vector<std::string>& files) {
    return {{ASSAY_FAKE_RUNNER, "--device", "cpu"}, std::chrono::seconds(30), files};
  }

  static bool answers(ModuleRunners& runners) {
    v1::RunnerRequest request;
    request.mutable_validate()->set_operator_name("fake");
    const auto reply =
        runners.call(std::move(request), std::chrono::seconds(30), [](const auto&) {});
    return reply.ok() && reply->has_validated();
  }

  Folder folder_;
};

TEST_F(ModuleRunnersTest, KnowsOnlyTheModulesThatItWasGiven) {
  ModuleRunners runners = make({file("a.so")});
  EXPECT_EQ(runners.ensure("b").code(), absl::StatusCode::kNotFound);
}

TEST_F(ModuleRunnersTest, NeverStartsAFileThatOthersMayWriteTo) {
  ModuleRunners runners = make({file("a.so", 0666)});
  const absl::Status refused = runners.ensure("a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(std::string(refused.message()).find("it is writable by others"), std::string::npos);
  ASSERT_EQ(runners.description().device.modules_size(), 1);
  EXPECT_FALSE(runners.description().device.modules(0).available());
  EXPECT_EQ(runners.description().operators.size(), 1U);
}

TEST_F(ModuleRunnersTest, KeepsAModuleInQuarantineUntilItsFileChanges) {
  const std::string path = file("a.so");
  ModuleRunners runners = make({path});
  ASSERT_TRUE(runners.ensure("a").ok());
  ASSERT_TRUE(runners.discard("it crashed").ok());
  runners.quarantine("it crashed");
  const absl::Status refused = runners.ensure("a");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(refused.message()),
            "module `a` is in quarantine: it crashed; replace its file, or start assayd again");
  EXPECT_EQ(runners.description().device.modules(0).reason(), "it crashed");
  EXPECT_TRUE(runners.ensure("").ok());
  EXPECT_TRUE(answers(runners));

  file("a.so");
  EXPECT_TRUE(runners.ensure("a").ok());
  EXPECT_TRUE(answers(runners));
  EXPECT_TRUE(runners.description().device.modules(0).available());
}

TEST_F(ModuleRunnersTest, PutsTheDevicesOwnRunnerIntoNoQuarantine) {
  ModuleRunners runners = make({});
  ASSERT_TRUE(runners.ensure("").ok());
  ASSERT_TRUE(runners.discard("it crashed").ok());
  runners.quarantine("it crashed");
  EXPECT_TRUE(runners.ensure("").ok());
  EXPECT_EQ(runners.num_restarts(), 1U);
  EXPECT_EQ(runners.last_failure(), "it crashed");
}

TEST_F(ModuleRunnersTest, CountsNoRestartWhereOneMakesRoomForAnother) {
  ModuleRunners runners = make({file("a.so"), file("b.so")});
  for (const char* module : {"", "a", "b", "a", ""}) {
    ASSERT_TRUE(runners.ensure(module).ok()) << module;
    EXPECT_TRUE(answers(runners)) << module;
  }
  EXPECT_EQ(runners.num_restarts(), 0U);
  EXPECT_EQ(runners.last_failure(), "");
  EXPECT_EQ(runners.description().operators.size(), 3U);
}

TEST_F(ModuleRunnersTest, HasOneRunnerAliveAtATime) {
  ModuleRunners runners = make({file("a.so")});
  ASSERT_TRUE(runners.ensure("").ok());
  const auto own = static_cast<pid_t>(runners.pid());
  ASSERT_EQ(kill(own, 0), 0);
  ASSERT_TRUE(runners.ensure("a").ok());
  EXPECT_NE(static_cast<pid_t>(runners.pid()), own);
  EXPECT_EQ(kill(own, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(ModuleRunnersTest, StartsNothingOnceItIsClosed) {
  ModuleRunners runners = make({file("a.so")});
  ASSERT_TRUE(runners.ensure("").ok());
  runners.close();
  EXPECT_FALSE(runners.ensure("a").ok());
}

}  // namespace
}  // namespace assay::server
