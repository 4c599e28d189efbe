#include "tests/client/commands_fixture.h"
#include "tests/temporary_folder.h"

#include <array>
#include <filesystem>
#include <unistd.h>

namespace assay::client {
namespace {

class ReceiptCommand : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    service_.receipt.set_markdown("## Receipt of assay\n");
    service_.receipt.mutable_receipt()->set_format_version(1);
    service_.receipt.mutable_receipt()->add_experiments()->set_finished_ns(
        1'769'860'805'000'000'001);
  }

  std::string file(const std::string& text) const {
    std::ofstream(folder_ / "receipt") << text;
    return folder_ / "receipt";
  }

  Folder folder_;
};

TEST_F(ReceiptCommand, PrintsBothForms) {
  EXPECT_EQ(run_with({"receipt"}), 0) << err();
  EXPECT_EQ(out(), "## Receipt of assay\n");
  ASSERT_EQ(service_.receipt_asked.experiment_ids_size(), 1);
  EXPECT_EQ(service_.receipt_asked.experiment_ids(0), 0);
  EXPECT_EQ(run_with({"receipt", "3", "last", "--format", "json"}), 0) << err();
  EXPECT_TRUE(said("\"finished_ns\": \"1769860805000000001\"")) << out();
  EXPECT_EQ(service_.receipt_asked.experiment_ids(0), 3);
  EXPECT_EQ(service_.receipt_asked.experiment_ids(1), 0);
  EXPECT_EQ(run_with({"receipt", "--format", "csv"}), 2);
  EXPECT_TRUE(said("format `csv`: expected one of json, markdown"));
  EXPECT_EQ(run_with({"receipt", "x"}), 2);
}

TEST_F(ReceiptCommand, AsksForTheVerdictsOfAMoment) {
  for (const char* moment :
       {"2026-01-31T12:00:05Z", "2026-01-31 12:00:05", "2026-01-31T13:00:05+01:00"}) {
    EXPECT_EQ(run_with({"receipt", "--as-of", moment}), 0) << err();
    EXPECT_EQ(service_.receipt_asked.judged_until_ns(), 1'769'860'805'000'000'000) << moment;
  }
  EXPECT_EQ(run_with({"receipt", "--judged-until", "1769860805000000001"}), 0) << err();
  EXPECT_EQ(service_.receipt_asked.judged_until_ns(), 1'769'860'805'000'000'001);
  EXPECT_EQ(run_with({"receipt", "--as-of", "yesterday"}), 2);
  EXPECT_TRUE(said("--as-of: `yesterday`: expected 2026-01-31")) << err();
  EXPECT_EQ(run_with({"receipt", "--as-of", "1969-01-31"}), 2);
  EXPECT_EQ(run_with({"receipt", "--judged-until", "-1"}), 2);
  EXPECT_EQ(run_with({"receipt", "--judged-until", "1", "--as-of", "2026-01-31"}), 2);
}

TEST_F(ReceiptCommand, TakesNoOtherFileForAReceipt) {
  EXPECT_EQ(run_with({"receipt", "--verify", file("\xff\xfe#")}), 2);
  EXPECT_TRUE(said("is no receipt: it is not UTF-8")) << err();
}

TEST_F(ReceiptCommand, WritesAFileOnce) {
  const std::string path = folder_ / "r.md";
  EXPECT_EQ(run_with({"receipt", "-o", path}), 0) << err();
  EXPECT_EQ(text_in(path), "## Receipt of assay\n");
  EXPECT_EQ(out(), "");
  EXPECT_NE(run_with({"receipt", "-o", path}), 0);
  EXPECT_EQ(run_with({"receipt", "-o", path, "--overwrite"}), 0) << err();
}

TEST_F(ReceiptCommand, WarnsOfTheNameOfThisHost) {
  EXPECT_EQ(run_with({"receipt"}), 0);
  EXPECT_EQ(err(), "");
  std::array<char, 256> host = {};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const std::string name = host.data();
  if (name.size() < 3) {
    GTEST_SKIP() << "this host has no name to look for";
  }
  service_.receipt.set_markdown("## Receipt of assay\n- label: on " + name + ".\n");
  EXPECT_EQ(run_with({"receipt"}), 0);
  EXPECT_TRUE(err().find("is the name of this host, `" + name + "`") != std::string::npos) << err();
  service_.receipt.set_markdown("x" + name + "y");
  EXPECT_EQ(run_with({"receipt"}), 0);
  EXPECT_EQ(err(), "");
}

TEST_F(ReceiptCommand, VerifiesWhatItPrints) {
  service_.verified.set_matches(true);
  service_.verified.add_experiment_ids(7);
  service_.verified.add_experiment_ids(9);
  ASSERT_EQ(run_with({"receipt", "--format", "json"}), 0);
  EXPECT_EQ(run_with({"receipt", "--verify", file("\n " + out())}), 0) << err();
  EXPECT_EQ(out(), "matches: experiment 7, 9\n");
  EXPECT_EQ(service_.verify_asked.receipt().SerializeAsString(),
            service_.receipt.receipt().SerializeAsString());
  EXPECT_EQ(run_with({"receipt", "--verify", file("## Receipt of assay\r\n")}), 0) << err();
  EXPECT_EQ(service_.verify_asked.markdown(), "## Receipt of assay\r\n");
  EXPECT_FALSE(service_.verify_asked.has_receipt());
}

TEST_F(ReceiptCommand, TellsByItsExitStatusWhatIsWrong) {
  service_.verified.set_difference("line 3: the receipt says 1, stored is 2");
  EXPECT_EQ(run_with({"receipt", "--verify", file("x")}), 3);
  EXPECT_EQ(out(), "differs: line 3: the receipt says 1, stored is 2\n");
  service_.next_status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such experiment here");
  EXPECT_EQ(run_with({"receipt", "--verify", file("x")}), 1);
  EXPECT_EQ(err(), "assay: no such experiment here\n");
  service_.next_status =
      grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "markdown: has no receipt");
  EXPECT_EQ(run_with({"receipt", "--verify", file("x")}), 2);
  EXPECT_EQ(run_with({"receipt", "--verify", file("{\"format_version\": 1, \"more\": 2}")}), 2);
  EXPECT_TRUE(said("is no receipt: ")) << err();
  EXPECT_EQ(run_with({"receipt", "--verify", folder_ / "none"}), 2);
  EXPECT_EQ(run_with({"receipt", "3", "--verify", file("x")}), 2);
}

}  // namespace
}  // namespace assay::client
