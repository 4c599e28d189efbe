// A kernel that becomes slower, as the people who measure it see that: found, confirmed by a run of
// the same code, acknowledged, fixed; and bits that are another.
#include "tests/end_to_end/real_runner.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>

namespace assay {
namespace {

constexpr std::chrono::seconds kPatience{60};

class History : public RealRunner {
 protected:
  // The daemon anew, with a runner whose code takes so many thousandths of what it took at first.
  void begin(int slowness, const std::vector<std::string>& more = {}) {
    if (daemon_) {
      daemon_->signal(SIGTERM);
      daemon_->wait();
    }
    std::ofstream(folder_ / "devices.json")
        << R"({"devices": [{"name": "cpu", "backend": "cpu", "launch_prefix": ["env", "FAKE_SLOWNESS=)"
        << slowness << R"("]}]})";
    std::vector<std::string> arguments = {"--db",
                                          folder_ / "a.db",
                                          "--listen",
                                          address(),
                                          "--runner",
                                          ASSAY_FAKE_RUNNER,
                                          "--config",
                                          folder_ / "devices.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    daemon_ = std::make_unique<Daemon>(arguments);
  }

  void measure(int num_times, const std::string& variant = "twin") {
    for (int i = 0; i < num_times; ++i) {
      const Result measured = assay("measure fake --rounds 1 --variant " + variant);
      ASSERT_EQ(measured.status, 0) << measured.text;
    }
  }

  // Asks until the answer has `text`.
  Result wait_for(const std::string& line, const std::string& text) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    Result result;
    while (std::chrono::steady_clock::now() < end) {
      result = assay(line);
      if (result.text.find(text) != std::string::npos) {
        return result;
      }
    }
    ADD_FAILURE() << line << " did not say `" << text << "`: " << result.text;
    return result;
  }

  std::unique_ptr<Daemon> daemon_;
};

TEST_F(History, FindsConfirmsAndFixesASlowDown) {
  begin(1'000);
  measure(6);
  begin(1'100);
  measure(6);
  wait_for("regressions --all", "confirmed: a run again takes 1.1");
  EXPECT_EQ(assay("regressions --fail-on confirmed").status, 6);
  EXPECT_EQ(assay("regressions --state refuted --fail-on confirmed").status, 0);
  const Result trend = assay("trend fake --variant twin");
  EXPECT_EQ(trend.status, 0) << trend.text;
  EXPECT_NE(trend.text.find("12 points, noise"), std::string::npos) << trend.text;
  EXPECT_NE(trend.text.find("▁▁▁▁▁▁██████"), std::string::npos) << trend.text;
  EXPECT_NE(trend.text.find("1.100 [1.100, 1.100]"), std::string::npos) << trend.text;

  EXPECT_EQ(assay("regressions acknowledge 1").status, 2);
  const Result acknowledged = assay("regressions acknowledge 1 --reason 'wider tile'");
  EXPECT_EQ(acknowledged.status, 0) << acknowledged.text;
  EXPECT_EQ(assay("regressions acknowledge 2 --reason 'its other stage'").status, 0);
  EXPECT_EQ(assay("regressions --fail-on detected").status, 0);
  begin(1'000);
  measure(6);
  wait_for("regressions --state fixed", "fixed: from experiment");
}

TEST_F(History, RunsNothingAgainWhereThatIsForbidden) {
  begin(1'000, {"--no-confirm"});
  measure(6);
  begin(1'100, {"--no-confirm"});
  measure(6);
  wait_for("regressions", "detected: from experiment");
  EXPECT_EQ(assay("regressions --fail-on confirmed").status, 0);
  EXPECT_EQ(assay("regressions --fail-on detected").status, 6);
  EXPECT_NE(assay("trend --list").text.find("     12      12"), std::string::npos)
      << assay("trend --list").text;
}

TEST_F(History, SaysWhoHadWhichBits) {
  begin(1'000);
  measure(2);
  measure(1, "drift");
  const Result all = assay("bits history --operator fake");
  EXPECT_EQ(all.status, 0) << all.text;
  EXPECT_NE(all.text.find("bbbbbbbb"), std::string::npos) << all.text;
  const Result one = assay("bits history --digest aaaa --format csv");
  EXPECT_NE(one.text.find("twin"), std::string::npos) << one.text;
  EXPECT_EQ(one.text.find("bbbb"), std::string::npos) << one.text;
  EXPECT_EQ(assay("bits history --digest aa").status, 2);
}

}  // namespace
}  // namespace assay
