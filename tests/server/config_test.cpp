#include "server/config.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::server {
namespace {

std::string error_of(const std::string& text) {
  const auto config = parse_config(text);
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(config.status().message());
}

TEST(Config, NamesAnUnknownFieldByItsPath) {
  const std::string error = error_of(R"({"devices": [{"name": "a", "backendd": "cpu"}]})");
  EXPECT_NE(error.find("backendd"), std::string::npos) << error;
  EXPECT_NE(error.find("devices[0]"), std::string::npos) << error;
}

TEST(Config, RefusesANameUsedTwice) {
  EXPECT_EQ(error_of(R"({"devices": [{"name": "a", "backend": "cpu"},
                                     {"name": "a", "backend": "cuda:0"}]})"),
            "devices[1].name: `a` is the name of devices[0]");
}

TEST(Config, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(error_of(R"({"devices": [{"name": "a b", "backend": "cpu"}]})"),
            "devices[0].name: must be 1 to 64 letters, digits, '_', '-' or '.'");
  EXPECT_EQ(error_of(R"({"devices": [{"name": "a", "backend": "cuda:"}]})"),
            "devices[0].backend: must be cpu or cuda:N");
  EXPECT_EQ(error_of(R"({"devices": [{"name": "a", "backend": "cpu", "launch_prefix": [""]}]})"),
            "devices[0].launch_prefix[0]: must not be empty");
  EXPECT_EQ(error_of(R"({"devices": [{"name": "a", "backend": "cpu", "start_timeout_ns": -1}]})"),
            "devices[0].start_timeout_ns: must be in [0, 3,600,000,000,000]");
}

TEST(Config, RefusesWhatIsNoJson) {
  EXPECT_FALSE(error_of("devices: cpu").empty());
}

TEST(Config, SaysWhichFileCannotBeRead) {
  const auto config = read_config("/nowhere/assayd.json");
  EXPECT_EQ(config.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(config.status().message(), "/nowhere/assayd.json: cannot be read");
}

TEST(Config, HasCpuAndTheFirstCudaDeviceByDefault) {
  const auto config = parse_config("{}");
  ASSERT_TRUE(config.ok()) << config.status();
  ASSERT_EQ(config->devices_size(), 2);
  EXPECT_EQ(config->devices(0).name(), "cpu");
  EXPECT_EQ(config->devices(1).backend(), "cuda:0");
  EXPECT_EQ(config->devices(1).start_timeout_ns(), kDefaultStartTimeoutNs);
}

TEST(Config, PutsThePrefixBeforeTheRunner) {
  const auto config = parse_config(
      R"({"devices": [{"name": "far", "backend": "cuda:1", "launch_prefix": ["ssh", "-T", "h"]}]})");
  ASSERT_TRUE(config.ok()) << config.status();
  const std::vector<std::string> expected = {"ssh", "-T", "h", "/bin/runner", "--device", "cuda:1"};
  EXPECT_EQ(runner_arguments(config->devices(0), "/bin/runner", {}), expected);
}

}  // namespace
}  // namespace assay::server
