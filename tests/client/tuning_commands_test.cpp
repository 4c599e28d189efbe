#include "tests/client/commands_fixture.h"
#include "tests/client/sweep_fixtures.h"
#include "tests/temporary_folder.h"

#include "google/protobuf/util/json_util.h"

namespace assay::client {
namespace {

class TuningCommands : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    *service_.tuning_list.add_tunings() = made_up_tuning("64", "2");
    v1::AxisInfo& width = *service_.operator_list.mutable_operators(0)->add_axes();
    width.set_name("width");
  }

  void add_stale() {
    v1::Tuning& stale = *service_.tuning_list.add_tunings();
    stale = made_up_tuning("2051", "4");
    stale.set_stale("the driver was 580.1, it is 590.2");
  }
};

TEST_F(TuningCommands, RefuseWrongUsageWithStatusTwo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"tuning"}, "(see `assay tuning --help`)"},
      {{"tuning", "lookup"}, "operator is required"},
      {{"tuning", "lookup", "qsa_decode", "-a", "width=[64,65]"},
       "-a width: a look-up needs one value"},
      {{"tuning", "lookup", "qsa_decode", "-a", "width"}, "expected NAME=VALUE"},
      {{"tuning", "export", "--format", "yaml"}, "--format: `yaml`: expected json or header"},
  };
  for (const auto& [arguments, expected] : cases) {
    EXPECT_EQ(run_with(arguments), 2) << expected;
    EXPECT_TRUE(said(expected)) << expected << " in: " << err();
    EXPECT_EQ(out(), "") << expected;
  }
}

TEST_F(TuningCommands, LookUpWithStatusOneWhereNothingIsTuned) {
  service_.tuning.set_missing("not tuned: no sweep is near");
  EXPECT_EQ(run_with({"tuning",
                      "lookup",
                      "qsa_decode",
                      "--variant",
                      "two_cell",
                      "--device",
                      "h200",
                      "-a",
                      "kv=int8",
                      "-a",
                      "width=64"}),
            1);
  EXPECT_EQ(out(), "not tuned: no sweep is near\n");
  EXPECT_EQ(service_.looked_up.operator_name(), "qsa_decode");
  EXPECT_EQ(service_.looked_up.variant(), "two_cell");
  EXPECT_EQ(service_.looked_up.device(), "h200");
  ASSERT_EQ(service_.looked_up.axes_size(), 2);
  EXPECT_EQ(service_.looked_up.axes(1).name(), "width");
  EXPECT_EQ(service_.looked_up.axes(1).value(), "64");
}

TEST_F(TuningCommands, LookUpAnEntryAsTextAndAsJson) {
  *service_.tuning.mutable_tuning() = made_up_tuning("64", "2");
  service_.tuning.set_match("exact");
  EXPECT_EQ(run_with({"tuning", "lookup", "qsa_decode"}), 0) << err();
  EXPECT_TRUE(out().starts_with("two_cell:cells_per_step=2,threads=2\n  match   exact\n")) << out();
  EXPECT_EQ(run_with({"tuning", "lookup", "qsa_decode", "--format", "json"}), 0) << err();
  v1::LookupTuningResponse read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(out(), &read).ok()) << out();
  EXPECT_EQ(read.SerializeAsString(), service_.tuning.SerializeAsString());
}

TEST_F(TuningCommands, ListEveryEntry) {
  add_stale();
  EXPECT_EQ(run_with({"tuning", "list", "qsa_decode"}), 0) << err();
  EXPECT_EQ(service_.tunings_asked.operator_name(), "qsa_decode");
  EXPECT_TRUE(said("\n[1] the driver was 580.1, it is 590.2\n")) << out();
  EXPECT_EQ(run_with({"tuning", "list", "--format", "csv"}), 0) << err();
  EXPECT_EQ(service_.tunings_asked.operator_name(), "");
  EXPECT_TRUE(out().starts_with("operator_name,workload,device_model,")) << out();
  service_.tuning_list.clear_tunings();
  EXPECT_EQ(run_with({"tuning", "list"}), 0) << err();
  EXPECT_TRUE(said("nothing is tuned yet")) << out();
}

TEST_F(TuningCommands, ExportFreshEntriesOnlyUnlessStaleOnesAreAskedFor) {
  add_stale();
  EXPECT_EQ(
      run_with({"tuning", "export", "--operator", "qsa_decode", "--device-model", "Made-up GPU"}),
      0)
      << err();
  EXPECT_EQ(service_.tunings_asked.operator_name(), "qsa_decode");
  EXPECT_EQ(service_.tunings_asked.device_model(), "Made-up GPU");
  EXPECT_EQ(err(),
            "left out: qsa_decode kv=int8,width=2051: stale: the driver was 580.1, it is 590.2\n");
  v1::ListTuningsResponse read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(out(), &read).ok()) << out();
  EXPECT_EQ(read.tunings_size(), 1);
  EXPECT_EQ(run_with({"tuning", "export", "--stale"}), 0);
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(out(), &read).ok()) << out();
  EXPECT_EQ(read.tunings_size(), 2);
  EXPECT_EQ(err(), "");
}

TEST_F(TuningCommands, ExportAHeaderToAFile) {
  const Folder folder;
  const std::string path = folder / "tuned.h";
  const std::vector<std::string> command = {"tuning", "export", "--format", "header", "-o", path};
  EXPECT_EQ(run_with(command), 0) << err();
  EXPECT_EQ(out(), "");
  EXPECT_NE(text_in(path).find("{\"kv\", \"int8\", false}, {\"width\", \"64\", true}"),
            std::string::npos)
      << text_in(path);
  const std::string header = text_in(path);
  std::ofstream(path) << "somebody's";
  EXPECT_EQ(run_with(command), 1);
  EXPECT_TRUE(said("ALREADY_EXISTS: --output: " + path +
                   ": is there already; name another file or add --overwrite"))
      << err();
  EXPECT_EQ(text_in(path), "somebody's");
  EXPECT_EQ(run_with({"tuning", "export", "--format", "header", "--output", path, "--overwrite"}),
            0)
      << err();
  EXPECT_EQ(text_in(path), header);
  EXPECT_NE(run_with({"tuning", "export", "--format", "header", "-o", "/nowhere/tuned.h"}), 0);
  EXPECT_TRUE(said("--output: /nowhere/tuned.h: No such file or directory")) << err();
  service_.tuning_list.clear_tunings();
  EXPECT_EQ(run_with(command), 1);
  EXPECT_TRUE(said("FAILED_PRECONDITION: nothing to export: no entry is fresh")) << err();
}

TEST_F(TuningCommands, ExportAHeaderWithoutNearWorkloadsWhereNoOperatorIsKnown) {
  service_.operator_list.clear_operators();
  EXPECT_EQ(run_with({"tuning", "export", "--format", "header"}), 0) << err();
  EXPECT_TRUE(said("{\"width\", \"64\", false}")) << out();
}

}  // namespace
}  // namespace assay::client
