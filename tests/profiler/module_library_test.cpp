// The example module and the misbehaving ones, in this process.
#include "profiler/module_library.h"

#include "profiler/checks.h"
#include "profiler/session.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace assay::profiler {
namespace {

constexpr std::int64_t kSmallCache_bytes = 64 << 10;

class ModuleLibraryTest : public testing::Test {
 protected:
  // A copy of a module as its user would place it.
  std::string place(const std::string& module) const {
    const std::string path = folder_ / (module + ".so");
    std::filesystem::copy_file(std::string(ASSAY_TEST_MODULES) + "/" + module + ".so", path);
    std::filesystem::permissions(path, std::filesystem::perms(0755));
    return path;
  }

  const kernels::Operator& load(const std::string& module) {
    auto loaded = ModuleLibrary::load(place(module));
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    module_ = *std::move(loaded);
    return *module_->operators()[0];
  }

  static v1::RunnerOpen request(const std::string& candidate) {
    v1::RunnerOpen open;
    open.mutable_baseline()->set_variant("plain");
    if (!candidate.empty()) {
      open.mutable_candidate()->set_variant(candidate);
    }
    open.set_num_calls(20);
    return open;
  }

  v1::BitsReport bits_of(const kernels::Operator& op, const std::string& candidate) {
    Session session(state_, op);
    const auto opened = session.open(request(candidate));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened.ok() ? opened->candidate().bits() : v1::BitsReport();
  }

  std::string load_failure(const std::string& module) const {
    return std::string(ModuleLibrary::load(place(module)).status().message());
  }

  Folder folder_;
  std::unique_ptr<Device> device_ = make_cpu_device(kSmallCache_bytes);
  RunnerState state_{*device_};
  std::unique_ptr<ModuleLibrary> module_;
};

TEST_F(ModuleLibraryTest, RefusesALibraryThatIsNoModule) {
  const std::string failure = load_failure("empty_module");
  EXPECT_NE(failure.find("empty_module.so: undefined symbol: assay_module"), std::string::npos);
  EXPECT_EQ(failure.find(folder_ / ""), std::string::npos) << failure;
}

TEST_F(ModuleLibraryTest, RefusesAnotherAbi) {
  EXPECT_EQ(load_failure("of_the_future_module"),
            "made for ABI 99 of kernels/module.h, this is 1; build it again");
}

TEST_F(ModuleLibraryTest, RefusesAFileThatOthersMayWriteTo) {
  const std::string path = place("saxpy");
  std::filesystem::permissions(path, std::filesystem::perms(0666));
  EXPECT_EQ(std::string(ModuleLibrary::load(path).status().message()),
            "it is writable by others than its owner (chmod go-w)");
}

TEST_F(ModuleLibraryTest, RefusesASecondModule) {
  load("saxpy");
  EXPECT_EQ(std::string(ModuleLibrary::load(place("caching_module")).status().message()),
            "a module is loaded already");
}

TEST_F(ModuleLibraryTest, SaysWhyALauncherGaveUp) {
  const v1::BitsReport bits = bits_of(load("crashing_module"), "give_up");
  EXPECT_EQ(bits.failed(), v1::BITS_FINISHED);
  EXPECT_EQ(bits.detail(), "INTERNAL: stage only: launch_cpu: code 7: no such luck");
}

TEST_F(ModuleLibraryTest, RejectsTheWrongVariantAtItsFirstElement) {
  const v1::BitsReport bits = bits_of(load("saxpy"), "wrong");
  EXPECT_EQ(bits.failed(), v1::BITS_EQUAL);
  EXPECT_NE(bits.detail().find("1 of 65,536 elements of `out` differ, first out[65535]"),
            std::string::npos)
      << bits.detail();
}

TEST_F(ModuleLibraryTest, RejectsWhatDoesNothingTheSecondTime) {
  const kernels::Operator& op = load("caching_module");
  for (const char* variant : {"same_pointer_nothing", "same_inputs_nothing"}) {
    const v1::BitsReport bits = bits_of(op, variant);
    EXPECT_TRUE(bits.failed() == v1::BITS_WRITTEN || bits.failed() == v1::BITS_REPEATABLE)
        << variant << ": " << bits.detail();
  }
}

TEST_F(ModuleLibraryTest, RejectsASavedOutput) {
  const v1::BitsReport bits = bits_of(load("caching_module"), "same_pointer_copy");
  EXPECT_EQ(bits.failed(), v1::BITS_EQUAL);
  EXPECT_EQ(bits.detail().find("a saved output: with other inputs it gives what it gave before, "),
            0U)
      << bits.detail();
}

TEST_F(ModuleLibraryTest, RejectsAnOutputThatIsSavedWhileItIsTimed) {
  Session session(state_, load("caching_module"));
  const auto opened = session.open(request("late_copy"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->candidate().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
      << opened->candidate().bits().detail();
  v1::RunnerTime time;
  time.set_schedule(v1::BAB);
  time.set_num_rounds(1);
  ASSERT_TRUE(session.time(time).ok());
  const auto closed = session.close({});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->candidate().bits().failed(), v1::BITS_EQUAL);
  EXPECT_EQ(closed->candidate().bits().detail().find("a saved output: "), 0U);
}

TEST_F(ModuleLibraryTest, TimesAVariantThatIsRight) {
  Session session(state_, load("saxpy"));
  const auto opened = session.open(request("blocked"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->candidate().bits().detail(), "");
  EXPECT_TRUE(opened->candidate().bits().tolerance_known());
  EXPECT_LE(opened->candidate().bits().tolerance_used(), 1.0);
  EXPECT_FALSE(opened->identical_code());
  EXPECT_EQ(opened->baseline().min_bytes(), 3 * 4 * 65'536);
  EXPECT_EQ(opened->baseline().min_flops(), 2 * 65'536);
  v1::RunnerTime time;
  time.set_schedule(v1::BAB);
  time.set_num_rounds(1);
  const auto timed = session.time(time);
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_EQ(timed->candidate().stages(0).samples_ns_size(), 40);
  const auto closed = session.close({});
  ASSERT_TRUE(closed.ok()) << closed.status();
  EXPECT_EQ(closed->candidate().bits().detail(), "");
  EXPECT_FALSE(closed->baseline().has_bits());
}

TEST_F(ModuleLibraryTest, ChecksItsVariantsOnItsNamedWorkloads) {
  const kernels::Operator& op = load("saxpy");
  EXPECT_EQ(op.name, "saxpy.saxpy");
  v1::RunnerCheck check;
  check.set_suite("parity");
  check.set_name("workloads");
  const auto result =
      run_check(state_, op, check, [](double, const std::string&) { return absl::OkStatus(); });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->passed());
  EXPECT_EQ(result->num_cases(), 3);
  EXPECT_EQ(result->num_differing(), 3);
  EXPECT_EQ(result->detail().find("parity/workloads/0, wrong: 1 of 1 elements of `out` differ"), 0U)
      << result->detail();
}

}  // namespace
}  // namespace assay::profiler
