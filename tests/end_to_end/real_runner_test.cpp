// Launch prefixes, and accepted bits that outlive a database.
#include "tests/end_to_end/real_runner.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay {
namespace {

class SmallMeasure : public RealRunner {
 protected:
  Result measure(const std::string& device) const {
    return assay(
        "measure qsa_decode --variant one_cell -a width=64 --rounds 1 --calls 3 --device " +
        device);
  }
};

TEST_F(SmallMeasure, ServesBehindLaunchPrefixes) {
  std::ofstream(folder_ / "devices.json") << R"({"devices": [
    {"name": "with_env", "backend": "cpu",
     "launch_prefix": ["env", "X=1", "sh", "-c", "test \"$X\" = 1 && exec \"$@\"", "sh"]},
    {"name": "chatty", "backend": "cpu",
     "launch_prefix": ["sh", "-c", "echo Last login: today; echo ASSAYRN1; exec \"$@\"", "sh"]},
    {"name": "broken", "backend": "cpu",
     "launch_prefix": ["sh", "-c", "echo no such host >&2; exit 5", "sh"]}]})";
  Daemon daemon(arguments({"--config", folder_ / "devices.json"}));
  for (const char* device : {"with_env", "chatty"}) {
    const Result measured = measure(device);
    EXPECT_EQ(measured.status, 0) << measured.text;
    EXPECT_NE(measured.text.find("done, 1 of 1 configurations"), std::string::npos)
        << measured.text;
  }
  const Result refused = measure("broken");
  EXPECT_EQ(refused.status, 1) << refused.text;
  EXPECT_NE(refused.text.find("device `broken` is not available: its runner does not start: "
                              "the runner exited with status 5"),
            std::string::npos)
      << refused.text;
}

TEST_F(SmallMeasure, ReproducesExportedBitsUntilOneIsBroken) {
  std::string file;
  {
    Daemon daemon(arguments({}));
    const Result first = measure("cpu");
    EXPECT_NE(first.text.find("goldens: 1 none stored"), std::string::npos) << first.text;
    EXPECT_EQ(assay("bits accept last").status, 2);
    const Result accepted = assay("bits accept last --reason 'the first bits'");
    EXPECT_EQ(accepted.status, 0) << accepted.text;
    file = assay("bits export --operator qsa_decode").text;
    ASSERT_TRUE(file.starts_with("# assay goldens 1\nqsa_decode\t")) << file;
    daemon.signal(SIGTERM);
    daemon.wait();
  }
  const auto with_file = [&](const std::string& text) {
    std::filesystem::remove(folder_ / "a.db");
    std::filesystem::create_directories(folder_ / "goldens");
    std::ofstream(folder_ / "goldens/qsa_decode.tsv") << text;
    return arguments({"--goldens", folder_ / "goldens"});
  };
  {
    Daemon daemon(with_file(file));
    const Result again = measure("cpu");
    EXPECT_EQ(again.status, 0) << again.text;
    EXPECT_NE(again.text.find("goldens: 1 reproduced"), std::string::npos) << again.text;
    EXPECT_EQ(assay("bits export --operator qsa_decode").text, file);
  }
  // The digest of `out` ends the last line.
  const std::size_t digest = file.rfind('\t') + 1;
  Daemon daemon(with_file(file.substr(0, digest) + std::string(32, '0') + "\n"));
  const Result broken = measure("cpu");
  EXPECT_EQ(broken.status, 3) << broken.text;
  EXPECT_NE(broken.text.find("expected 00000000000000000000000000000000, found"), std::string::npos)
      << broken.text;
}

}  // namespace
}  // namespace assay
