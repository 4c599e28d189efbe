// Modules in the real programs: placed in a folder, used, refused and put into quarantine.
#include "tests/end_to_end/real_runner.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace assay {
namespace {

class Modules : public RealRunner {
 protected:
  Modules() { std::filesystem::create_directory(folder_ / "modules"); }

  std::string place(const std::string& module, mode_t mode = 0755) const {
    const std::string path = folder_ / ("modules/" + module + ".so");
    // A runner may have the old file mapped.
    std::filesystem::remove(path);
    std::filesystem::copy_file(std::string(ASSAY_TEST_MODULES) + "/" + module + ".so", path);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  std::vector<std::string> with_modules() const {
    // The CUDA device of a host that has one is not what is looked at here.
    std::ofstream(folder_ / "devices.json")
        << R"({"devices": [{"name": "cpu", "backend": "cpu", "start_timeout_ns": "5000000000"}],
               "modules": ")"
        << (folder_ / "modules") << "\"}";
    return arguments({"--config", folder_ / "devices.json"});
  }

  Result compare(const std::string& op, const std::string& candidate, const std::string& more) {
    return assay("compare " + op + " --baseline plain --candidate " + candidate +
                 " --rounds 12 --calls 20 --device cpu " + more);
  }

  void expect_built_in_served() {
    const Result measured =
        assay("measure calibration --rounds 1 --calls 3 --device cpu -a elements=1000");
    EXPECT_NE(measured.status, 1) << measured.text;
    EXPECT_NE(measured.text.find("1 of 1 configurations"), std::string::npos) << measured.text;
  }

  static void expect_in(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
  }
};

TEST_F(Modules, StartsWithoutNoFolder) {
  Daemon daemon(arguments({"--modules", folder_ / "nowhere"}));
  EXPECT_EQ(daemon.line(), "");
  EXPECT_NE(daemon.wait(), 0);
  expect_in(daemon.log(), "cannot be read: No such file or directory");
}

TEST_F(Modules, ListsWhatItDoesNotLoadAndWhy) {
  place("saxpy", 0775);
  place("of_the_future_module");
  place("dying_module");
  place("empty_module");
  std::filesystem::create_symlink(folder_ / "modules/empty_module.so", folder_ / "modules/link.so");
  Daemon daemon(with_modules());
  const std::string text = assay("devices").text;
  expect_in(text,
            "cpu has in quarantine module saxpy: it is writable by others than its owner "
            "(chmod go-w)");
  expect_in(text, "module of_the_future_module: made for ABI 99 of kernels/module.h, this is 1");
  expect_in(text, "module dying_module: the runner exited with status 3");
  expect_in(text, "module empty_module: empty_module.so: undefined symbol: assay_module");
  expect_in(text, "module link: it is a link, not a file");
  EXPECT_EQ(assay("operators").text.find("saxpy"), std::string::npos);
  expect_built_in_served();
}

TEST_F(Modules, RefusesTheWrongVariantOfTheExampleAndTimesTheRightOne) {
  place("saxpy");
  Daemon daemon(with_modules());
  expect_in(assay("devices").text, "cpu has module saxpy\n");
  expect_in(assay("operators saxpy.saxpy").text, "module: saxpy\n");
  const Result wrong = compare("saxpy.saxpy", "wrong", "-a n=1000");
  EXPECT_EQ(wrong.status, 3) << wrong.text;
  expect_in(wrong.text, "1 of 1,000 elements of `out` differ, first out[999]");
  const Result right = compare("saxpy.saxpy", "blocked:block=256", "-a n=[1000,2000]");
  EXPECT_EQ(right.status, 0) << right.text;
  expect_in(right.text, "2 of 2 configurations");
  const Result refused = compare("saxpy.saxpy", "blocked", "-a n=0");
  EXPECT_NE(refused.status, 0) << refused.text;
  expect_in(refused.text, "which is an integer in [1, 268435456]");
  const Result checked = assay("check saxpy.saxpy --device cpu");
  EXPECT_EQ(checked.status, 3) << checked.text;
  expect_in(checked.text, "wrong: 1 of 1 elements of `out` differ");
  expect_built_in_served();
}

TEST_F(Modules, QuarantinesAModuleThatCrashesUntilItsFileChanges) {
  place("crashing_module");
  place("saxpy");
  Daemon daemon(with_modules());
  const Result crashed = compare("crashing_module.double", "crash", "");
  EXPECT_EQ(crashed.status, 1) << crashed.text;
  expect_in(crashed.text, "Segmentation fault");
  expect_in(assay("devices").text,
            "cpu has in quarantine module crashing_module: the runner was killed by signal 11");
  const Result again = compare("crashing_module.double", "give_up", "");
  EXPECT_EQ(again.status, 1) << again.text;
  expect_in(again.text, "module `crashing_module` is in quarantine: ");
  expect_built_in_served();
  EXPECT_EQ(compare("saxpy.saxpy", "blocked", "").status, 0);

  place("crashing_module");
  const Result after = compare("crashing_module.double", "give_up", "");
  EXPECT_EQ(after.status, 3) << after.text;
  expect_in(after.text, "no such luck");
  expect_in(assay("devices").text, "cpu has module crashing_module\n");
}

TEST_F(Modules, EndsAModuleThatHangsAtItsDeadline) {
  place("crashing_module");
  Daemon daemon(with_modules());
  const Result hung = compare("crashing_module.double", "hang", "--deadline 1s");
  EXPECT_EQ(hung.status, 1) << hung.text;
  expect_in(assay("devices").text, "cpu has in quarantine module crashing_module: ");
  expect_built_in_served();
}

}  // namespace
}  // namespace assay
