// Modules with CUDA variants: the example, and one that works where it should not.
#include "profiler/module_library.h"
#include "profiler/session.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace assay::profiler {
namespace {

class ModuleGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = make_cuda_device(0);
    if (!device.ok()) {
      GTEST_SKIP() << "no CUDA device: " << device.status();
    }
    device_ = *std::move(device);
    state_ = std::make_unique<RunnerState>(*device_);
  }

  // From beside this program, as a bundle has them, or from the build.
  const kernels::Operator& load(const std::string& module) {
    namespace fs = std::filesystem;
    const fs::path beside =
        fs::read_symlink("/proc/self/exe").parent_path() / "modules" / (module + ".so");
    const fs::path built = fs::path(ASSAY_TEST_MODULES) / (module + ".so");
    const std::string path = folder_ / (module + ".so");
    fs::copy_file(fs::exists(beside) ? beside : built, path);
    fs::permissions(path, fs::perms(0755));
    auto loaded = ModuleLibrary::load(path);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    module_ = *std::move(loaded);
    return *module_->operators()[0];
  }

  static v1::RunnerOpen request(const std::string& baseline, const std::string& candidate) {
    v1::RunnerOpen open;
    open.mutable_baseline()->set_variant(baseline);
    open.mutable_candidate()->set_variant(candidate);
    open.set_num_calls(10);
    return open;
  }

  static v1::RunnerTime one_round() {
    v1::RunnerTime time;
    time.set_schedule(v1::BAB);
    time.set_num_rounds(1);
    return time;
  }

  Folder folder_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<RunnerState> state_;
  std::unique_ptr<ModuleLibrary> module_;
};

TEST_F(ModuleGpuTest, RejectsWorkOnAPrivateStreamThatIsOtherwiseRight) {
  if (!device_->limits().activity.ok()) {
    GTEST_SKIP() << "no CUDA device with kernel times: " << device_->limits().activity;
  }
  Session session(*state_, load("streams_module"));
  const auto opened = session.open(request("plain", "elsewhere_in_order"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->baseline().bits().detail(), "");
  EXPECT_EQ(opened->candidate().bits().failed(), v1::BITS_TIMED_LAUNCH);
  EXPECT_EQ(opened->candidate().bits().detail().find("work outside the given stream: "), 0U)
      << opened->candidate().bits().detail();
  EXPECT_TRUE(is_refused(session.time(one_round()).status()));
}

TEST_F(ModuleGpuTest, RejectsWorkOnAPrivateStreamThatNothingOrders) {
  Session session(*state_, load("streams_module"));
  const auto opened = session.open(request("plain", "elsewhere"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->baseline().bits().detail(), "");
  EXPECT_NE(opened->candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
}

TEST_F(ModuleGpuTest, TimesEveryCallThatIsLaunchedWithAttributes) {
  Session session(*state_, load("streams_module"));
  const auto opened = session.open(request("plain", "twin"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->candidate().bits().detail(), "");
  ASSERT_EQ(opened->candidate().resources_size(), 1);
  EXPECT_EQ(opened->candidate().resources(0).kernel(), "double_kernel");
  EXPECT_GT(opened->candidate().resources(0).num_registers(), 0U);
  const auto timed = session.time(one_round());
  ASSERT_TRUE(timed.ok()) << timed.status();
  for (const v1::StageSamples& stage : timed->candidate().stages()) {
    EXPECT_GE(stage.samples_ns_size(), 10) << stage.stage();
    EXPECT_GT(std::ranges::min(stage.samples_ns()), 0) << stage.stage();
  }
  const auto closed = session.close({});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->candidate().bits().detail(), "");
}

TEST_F(ModuleGpuTest, TimesTheExample) {
  Session session(*state_, load("saxpy"));
  const auto opened = session.open(request("one_each", "four_each"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->candidate().bits().detail(), "");
  EXPECT_TRUE(session.time(one_round()).ok());
  const auto closed = session.close({});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->candidate().bits().detail(), "");
}

}  // namespace
}  // namespace assay::profiler
