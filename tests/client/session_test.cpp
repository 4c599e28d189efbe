#include "client/session.h"

#include "tests/client/commands_fixture.h"
#include "tests/temporary_folder.h"

namespace assay::client {
namespace {

TEST_F(Commands, TakeTheAddressBeforeTheCommandToo) {
  const std::string nowhere = "unix:/nowhere/assay.sock";
  EXPECT_EQ(run_with({"--address", nowhere, "devices"}), 1);
  EXPECT_TRUE(said("no daemon answers at " + nowhere)) << err();
  EXPECT_EQ(run_with({"--address", nowhere, "devices", "--address", address_}), 0) << err();
}

TEST_F(Commands, DoNotSayOfAnExperimentThatIsNotThereThatItGoesOn) {
  service_.watch_status = {grpc::StatusCode::NOT_FOUND, "no experiment 99"};
  EXPECT_EQ(run_with({"watch", "99"}), 2);
  EXPECT_TRUE(err().ends_with("assay: NOT_FOUND: no experiment 99\n")) << err();
}

TEST_F(Commands, TakeBothWordsForASourceOfTimes) {
  const std::vector<std::pair<std::string, v1::TimingSource>> words = {
      {"events", v1::CUDA_EVENTS},
      {"cuda_events", v1::CUDA_EVENTS},
      {"activity", v1::CUPTI_ACTIVITY},
      {"cupti-activity", v1::CUPTI_ACTIVITY},
      {"clock", v1::STEADY_CLOCK},
      {"STEADY_CLOCK", v1::STEADY_CLOCK}};
  for (const auto& [word, source] : words) {
    EXPECT_EQ(run_with({"measure", "qsa_decode", "--timing", word, "--detach"}), 0) << err();
    EXPECT_EQ(service_.submitted.back().spec().timing_source(), source) << word;
    EXPECT_EQ(run_with({"trend", "qsa_decode", "--timing", word}), 0) << err();
    EXPECT_EQ(service_.trend_asked.timing_source(), source) << word;
  }
  for (const std::string option : {"--launch-mode", "--launch"}) {
    EXPECT_EQ(run_with({"trend", "qsa_decode", option, "graph"}), 0) << err();
    EXPECT_EQ(service_.trend_asked.launch_mode(), v1::GRAPH);
  }
}

TEST_F(Commands, TakeTheNameOfANewFileByTheSameOption) {
  const Folder folder;
  EXPECT_EQ(run_with({"trace", "7", "-o", folder / "trace.json"}), 0) << err();
  EXPECT_NE(text_in(folder / "trace.json"), "");
  // The made-up daemon has no database to copy.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"backup", "-o", folder / "a.db"}, {"backup", folder / "a.db"}}) {
    EXPECT_EQ(run_with(words), 1);
    EXPECT_TRUE(said("UNIMPLEMENTED")) << err();
  }
}

TEST_F(Commands, SayOfAListWithoutRowsWhatFillsIt) {
  service_.has_nothing = true;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"list"}, "no experiment yet: `assay compare OPERATOR` makes one\n"},
      {{"list", "--operator", "nosuch"}, "no experiment matches\n"},
      {{"regressions"},
       "no open regression yet: `assay regressions --all` shows closed ones too\n"},
      {{"regressions", "--all"}, "no regression yet: trends find them, see `assay trend --list`\n"},
      {{"regressions", "--operator", "nosuch"}, "no open regression matches\n"},
      {{"trend", "--list"}, "no series yet: `assay measure OPERATOR` begins some\n"},
      {{"trend", "--list", "--stage", "merge"}, "no series matches\n"},
      {{"bits", "log"}, "no acceptance yet: `assay bits accept ID --reason WHY` makes one\n"},
      {{"bits", "log", "--operator", "nosuch"}, "no acceptance matches\n"},
      {{"bits", "history"}, "no digest yet: `assay measure OPERATOR` takes some\n"},
      {{"bits", "history", "--tensor", "out"}, "no digest matches\n"}};
  for (auto [arguments, expected] : cases) {
    EXPECT_EQ(run_with(arguments), 0) << err();
    EXPECT_EQ(out(), expected);
    arguments.insert(arguments.end(), {"--format", "csv"});
    EXPECT_EQ(run_with(arguments), 0) << err();
    EXPECT_NE(out().find(','), std::string::npos) << "programs get a head: " << out();
  }
}

}  // namespace
}  // namespace assay::client
