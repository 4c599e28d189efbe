#include "server/goldens.h"

#include "tests/server/fixture.h"

#include <array>
#include <fstream>

namespace assay::server {
namespace {

v1::Golden golden_of(const std::string& workload, char digit) {
  v1::Golden golden;
  golden.set_operator_name("fake");
  golden.set_workload(workload);
  golden.set_tensor("out");
  golden.set_family("baseline");
  golden.set_domain("any_device");
  golden.set_digest(std::string(32, digit));
  return golden;
}

TEST(Goldens, NamesTheFileThatCannotBeParsed) {
  const Folder folder;
  std::ofstream(folder / "bad.tsv") << "no header\n";
  const auto goldens = read_golden_files(folder / "");
  EXPECT_FALSE(goldens.ok());
  EXPECT_NE(std::string(goldens.status().message()).find("bad.tsv"), std::string::npos)
      << goldens.status();
  EXPECT_EQ(read_golden_files("/nowhere").status().code(), absl::StatusCode::kNotFound);
}

TEST(Goldens, RefusesAPageTokenThatIsNotItsOwn) {
  Daemon daemon;
  v1::ListGoldensRequest request;
  request.set_page_token("nonsense");
  EXPECT_EQ(daemon.goldens().list(request).status().code(), absl::StatusCode::kInvalidArgument);
  request.set_page_token("files:x");
  EXPECT_EQ(daemon.goldens().list(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Goldens, PutsAnEpochBeforeAFile) {
  Daemon daemon({device_config("cpu")}, {golden_of("w1", 'a'), golden_of("w2", 'b')});
  EXPECT_EQ(daemon.goldens().find(golden_of("w1", '0'))->value(), std::string(32, 'a'));
  v1::Golden epoch = golden_of("w1", 'c');
  epoch.set_reason("because");
  ASSERT_TRUE(daemon.store().accept_bits({epoch}, 1).ok());
  EXPECT_EQ(daemon.goldens().find(golden_of("w1", '0'))->value(), std::string(32, 'c'));
  EXPECT_FALSE(daemon.goldens().find(golden_of("w3", '0'))->has_value());
}

TEST(Goldens, ListsEpochsAndThenFilesInPages) {
  Daemon daemon({device_config("cpu")},
                {golden_of("w1", 'a'), golden_of("w2", 'b'), golden_of("w3", 'b')});
  v1::Golden epoch = golden_of("w2", 'c');
  epoch.set_reason("because");
  ASSERT_TRUE(daemon.store().accept_bits({epoch}, 1).ok());
  v1::ListGoldensRequest request;
  request.set_page_size(1);
  std::vector<std::string> seen;
  do {
    const auto page = daemon.goldens().list(request);
    ASSERT_TRUE(page.ok()) << page.status();
    for (const v1::Golden& golden : page->goldens()) {
      seen.push_back(golden.workload() + golden.digest().substr(0, 1));
    }
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty() && seen.size() < 10);
  EXPECT_EQ(seen, (std::vector<std::string>{"w2c", "w1a", "w3b"}));
}

TEST(Goldens, GivesAFamilyOfItsOwnTheDevicesDomain) {
  v1::OperatorInfo info;
  info.set_bits_domain("any_device");
  v1::Device device;
  device.set_backend("cuda");
  device.set_compute_capability("9.0");
  device.set_toolkit_version("13.0");
  EXPECT_EQ(bits_domain(info, "one", "baseline", device), "any_device");
  EXPECT_EQ(bits_domain(info, "two", "hw_exp", device), "sm_90+13.0");
  device.set_backend("cpu");
  EXPECT_EQ(bits_domain(info, "two", "hw_exp", device), "cpu");
}

v1::OperatorInfo modelled() {
  v1::OperatorInfo info;
  info.set_name("fake");
  info.set_bits_domain("sm_90");
  for (const auto& [name, family, domain] : {std::array{"model_sm_90", "baseline", "sm_90"},
                                             std::array{"fp32", "fp32", "cpu"},
                                             std::array{"portable", "baseline", "any_device"}}) {
    v1::VariantInfo& variant = *info.add_variants();
    variant.set_name(name);
    variant.set_family(family);
    variant.set_bits_domain(domain);
  }
  return info;
}

TEST(Goldens, TakesTheDomainThatTheVariantSays) {
  v1::Device device;
  device.set_backend("cpu");
  const v1::OperatorInfo info = modelled();
  EXPECT_EQ(bits_domain(info, "model_sm_90", "baseline", device), "sm_90");
  EXPECT_EQ(bits_domain(info, "portable", "baseline", device), "any_device");
  EXPECT_EQ(bits_domain(info, "fp32", "fp32", device), "cpu");
  // A digest of another family than the variant's is not of its domain.
  EXPECT_EQ(bits_domain(info, "portable", "hw_exp", device), "cpu");
}

TEST(Goldens, ComparesCasesInTheDomainOfTheBaseline) {
  v1::Golden golden = golden_of("parity/x/0", 'a');
  golden.set_tensor("all");
  golden.set_domain("sm_90");
  Daemon daemon({device_config("cpu")}, {golden});
  v1::CheckResult check;
  check.add_digests()->set_workload("parity/x/0");
  check.mutable_digests(0)->set_family("baseline");
  check.mutable_digests(0)->set_digest(std::string(32, 'a'));
  v1::Device device;
  device.set_backend("cpu");
  v1::OperatorInfo info = modelled();
  EXPECT_EQ(daemon.goldens().compare(check, info, device)->num_reproduced, 1U);
  info.mutable_variants(0)->set_bits_domain("sm_80");
  EXPECT_EQ(daemon.goldens().compare(check, info, device)->num_missing, 1U);
}

}  // namespace
}  // namespace assay::server
