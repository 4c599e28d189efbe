#include "client/t1_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

std::string error_of(const std::string& text) {
  const absl::StatusOr<T1File> file = parse_t1(text);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << text;
  return std::string(file.status().message());
}

// A file of one space and, where given, one kernel.
std::string file_of(const std::string& parameters,
                    const std::string& conditions = "",
                    const std::string& kernel = "") {
  return R"({"ConfigurationSpace": {"TuningParameters": [)" + parameters + "]" +
         (conditions.empty() ? "" : R"(, "Conditions": [)" + conditions + "]") + "}" +
         (kernel.empty() ? "" : R"(, "KernelSpecification": {)" + kernel + "}") + "}";
}

std::string parameter(const std::string& name,
                      const std::string& values,
                      const std::string& type = "int",
                      const std::string& rest = "") {
  return R"({"Name": ")" + name + R"(", "Type": ")" + type + R"(", "Values": ")" + values + "\"" +
         rest + "}";
}

std::string condition(const std::string& expression, const std::string& parameters = "") {
  return R"({"Expression": ")" + expression + R"(", "Parameters": [)" + parameters + "]}";
}

std::string repeated(const std::string& text, int num) {
  std::string result;
  for (int i = 0; i < num; ++i) {
    result += text;
  }
  return result;
}

const std::string kBlock = parameter("block", "[32, 64, 128]");
const std::string kTile = parameter("tile", "[1, 2, 4]");

std::int64_t num_valid(const std::string& text) {
  const absl::StatusOr<T1File> file = parse_t1(text);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? file->space.count()->num_valid : -1;
}

TEST(T1File, RefusesWhatIsNotJsonWithItsPlace) {
  EXPECT_EQ(error_of(""), "empty file");
  EXPECT_EQ(error_of(" \n"), "empty file");
  EXPECT_EQ(error_of("\x7f"
                     "ELF")
                .substr(0, 38),
            "not JSON: parse error at line 1, colum");
  const std::string cut = file_of(kBlock).substr(0, 60);
  EXPECT_NE(error_of(cut).find("not JSON: parse error at line 1, column"), std::string::npos);
  const std::string nan = file_of(parameter("a", "[1]", "int", ",\n \"Default\": NaN"));
  EXPECT_NE(error_of(nan).find("parse error at line 2, column 13"), std::string::npos)
      << error_of(nan);
  EXPECT_NE(error_of(file_of(kBlock) + "{}").find("not JSON"), std::string::npos);
  EXPECT_EQ(error_of(R"({"ConfigurationSpace": {"Conditions": [], "Conditions": []}})"),
            "Conditions: stands twice in one object");
}

TEST(T1File, RefusesFaultsOfTheSpaceByTheirField) {
  const std::string a = "ConfigurationSpace.TuningParameters[0]";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[]", "ConfigurationSpace: missing; expected a T1 file"},
      {R"({"cache": {}})", "ConfigurationSpace: missing; expected a T1 file"},
      {R"({"ConfigurationSpace": []})", "ConfigurationSpace: expected an object"},
      {R"({"ConfigurationSpace": {"TuningParameters": {}}})",
       "ConfigurationSpace.TuningParameters: expected a list"},
      {file_of(""), "ConfigurationSpace.TuningParameters: expected at least one parameter"},
      {R"({"ConfigurationSpace": {"TuningParameters": [], "Condition": []}})",
       "ConfigurationSpace.Condition: unknown field; expected TuningParameters, Conditions"},
      {file_of("3" + repeated(", 3", 1000)),
       "ConfigurationSpace.TuningParameters: more than 1,000 entries"},
      {file_of("3"), a + ": expected an object"},
      {file_of(parameter("a", "[1]", "int", R"(, "Value": 1)")),
       a + ".Value: unknown field; expected Name, Type, Values, Default"},
      {file_of(R"({"Name": 3})"), a + ".Name: expected a string"},
      {file_of(parameter("block size", "[1]")),
       a + ".Name: `block size` cannot be a name in expressions"},
      {file_of(parameter("not", "[1]")), a + ".Name: `not` cannot be a name in expressions"},
      {file_of(kBlock + "," + kBlock),
       "ConfigurationSpace.TuningParameters[1].Name: `block` stands twice"},
      {file_of(parameter("a", "[1]", "double")),
       a + ".Type: `double`: expected one of bool, float, int, string, uint"},
      {file_of(R"({"Name": "a", "Type": "int", "Values": [1]})"), a + ".Values: expected a string"},
      {file_of(parameter("a", "[]")),
       a + ".Values: expected a list of at least one value, such as [1, 2, 4]"},
      {file_of(parameter("a", "3")),
       a + ".Values: expected a list of at least one value, such as [1, 2, 4]"},
      {file_of(parameter("a", "[1, 2.5]")), a + ".Values: the value 2.5 is not of type int"},
      {file_of(parameter("a", "[-1]", "uint")), a + ".Values: the value -1 is not of type uint"},
      {file_of(parameter("a", "[2]", "bool")), a + ".Values: the value 2 is not of type bool"},
      {file_of(parameter("a", "[1]", "string")), a + ".Values: the value 1 is not of type string"},
      {file_of(parameter("a", "['x']", "float")),
       a + ".Values: the value 'x' is not of type float"},
      {file_of(parameter("a", "[1, 2, 1]")), a + ".Values: the value 1 stands twice"},
      {file_of(parameter("a", "[1, 1.0]", "float")), a + ".Values: the value 1.0 stands twice"},
      {file_of(kBlock, "3"), "ConfigurationSpace.Conditions[0]: expected an object"},
      {file_of(kBlock, "{}"), "ConfigurationSpace.Conditions[0].Expression: expected a string"},
      {file_of(kBlock, condition("block > 1", R"("blok")")),
       "ConfigurationSpace.Conditions[0].Parameters[0]: \"blok\" is not a tuning parameter"},
      {file_of(kBlock, condition("block > 1") + "," + condition("blok > 1")),
       "ConfigurationSpace.Conditions[1].Expression: unsupported expression: position 1: unknown "
       "name `blok`"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(error_of(text), expected) << text;
  }
}

TEST(T1File, ExecutesNothing) {
  const std::string unsupported = ": unsupported expression: position ";
  const std::string values = "ConfigurationSpace.TuningParameters[0].Values" + unsupported;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {file_of(parameter("a", "__import__('os').system('id')")), values + "1: unknown function"},
      {file_of(parameter("a", "[i for i in range(10**12)]")), values + "13: a list of more than"},
      {file_of(parameter("a", "[10**10**10]")), values + "4: the result does not fit"},
      {file_of(kBlock, condition("block.real > 1")),
       "ConfigurationSpace.Conditions[0].Expression" + unsupported + "6: unexpected `.`"},
      {file_of(kBlock, "", R"("Arguments": [{"Size": 1}, {"Size": "10**10**10"}])"),
       "KernelSpecification.Arguments[1].Size" + unsupported + "3: the result does not fit"},
      {file_of(kBlock, "", R"x("GlobalSize": {"X": "open(1)"})x"),
       "KernelSpecification.GlobalSize.X" + unsupported + "1: unknown function `open`"},
  };

  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(error_of(text).substr(0, expected.size()), expected) << text;
  }
}

TEST(T1File, RefusesNamesAndSizesOfTheKernelThatDoNotExist) {
  EXPECT_EQ(error_of(file_of(kBlock, "", R"("GridDivX": ["block"], "GridDivY": ["bloc"])")),
            "KernelSpecification.GridDivY[0]: unsupported expression: position 1: unknown name "
            "`bloc`");
  EXPECT_EQ(error_of(file_of(kBlock, "", R"("LocalSize": {"X": "block", "Y": "bloc"})")),
            "KernelSpecification.LocalSize.Y: unsupported expression: position 1: unknown name "
            "`bloc`");
  EXPECT_EQ(error_of(file_of(
                kBlock, "", R"("ProblemSize": [8], "Arguments": [{"Size": "ProblemSize[1]"}])")),
            "KernelSpecification.Arguments[0].Size: unsupported expression: position 12: index 1 "
            "of a list of 1");
  EXPECT_EQ(error_of(file_of(kBlock, "", R"("Arguments": [{"Size": "0"}])")),
            "KernelSpecification.Arguments[0].Size: expected a number of elements, not 0");
  EXPECT_EQ(num_valid(file_of(kBlock,
                              "",
                              R"x("ProblemSize": 8, "Stream": null, "GridDivX": null,
                                 "Arguments": [{"Size": "ProblemSize * max(block)"}])x")),
            3);
}

TEST(T1File, ReadsValuesOfEveryTypeInTheirOrder) {
  const absl::StatusOr<T1File> file = parse_t1(file_of(
      parameter("i", "[9223372036854775807, 3]") + "," + parameter("u", "list(range(2))", "uint") +
      "," + parameter("f", "[0.5, 2]", "float") + "," + parameter("b", "[True, False]", "bool") +
      "," + parameter("s", "['row', 'column']", "string")));
  ASSERT_TRUE(file.ok()) << file.status();
  std::string text;
  for (const tuning::TuningParameter& read : file->space.parameters()) {
    text += read.name;
    for (const tuning::Value& value : read.values) {
      text += " " + value_text(value);
    }
    text += "; ";
  }
  EXPECT_EQ(text, "i 9223372036854775807 3; u 0 1; f 0.5 2; b True False; s 'row' 'column'; ");
  EXPECT_TRUE(file->warnings.empty());
}

TEST(T1File, CountsWhatItsConditionsLetThrough) {
  EXPECT_EQ(num_valid(file_of(kBlock + "," + kTile)), 9);
  EXPECT_EQ(num_valid(file_of(kBlock + "," + kTile, condition("64 <= block * tile <= 128"))), 5);
  EXPECT_EQ(num_valid(file_of(kBlock + "," + parameter("kind", "['a', 'b']", "string"),
                              condition("kind == 'a' or block // 32 in (1, 4)"))),
            5);
}

TEST(T1File, WarnsOfDefaultsThatAreNotAValidConfiguration) {
  const std::string conditions = condition("tile > 1");
  const auto warnings = [&](const std::string& block, const std::string& tile) {
    const absl::StatusOr<T1File> file =
        parse_t1(file_of(parameter("block", "[32, 64]", "int", block) + "," +
                             parameter("tile", "[1, 2]", "int", tile),
                         conditions));
    EXPECT_TRUE(file.ok()) << file.status();
    return file->warnings;
  };
  EXPECT_EQ(
      warnings(R"(, "Default": 48)", R"(, "Default": 1)"),
      std::vector<std::string>{
          "default configuration is invalid: block has no value 48; `tile > 1` does not hold"});
  EXPECT_TRUE(warnings(R"(, "Default": 32)", R"(, "Default": 2)").empty());
  EXPECT_TRUE(warnings("", R"(, "Default": 1)").empty());
}

struct PublicFile {
  std::string name;
  std::int64_t num_combinations;
  std::int64_t num_valid;
};

// Counted by Python over every combination.
TEST(T1File, CountsThePublicFilesToTheDigit) {
  const std::vector<PublicFile> files = {
      {"benchmark_hub/dedispersion_milo", 22'272, 11'130},
      {"benchmark_hub/hotspot_milo", 4'440'000, 82'984},
      {"ktt/CoulombSum3d", 672, 210},
      {"ktt/ClTuneGemm", 26'244, 5'788},
      {"ktt/NbodyScript", 9'408, 1'568},
      {"ktt/KernelTuningCudaScript", 4, 4},
  };
  for (const PublicFile& expected : files) {
    std::ifstream stream("../shared/data/" + expected.name + ".json");
    if (!stream) {
      GTEST_SKIP() << "../shared/data is not there";
    }
    const absl::StatusOr<T1File> file =
        parse_t1(std::string(std::istreambuf_iterator<char>(stream), {}));
    ASSERT_TRUE(file.ok()) << expected.name << ": " << file.status();
    const absl::StatusOr<tuning::SpaceCount> count = file->space.count();
    ASSERT_TRUE(count.ok()) << expected.name << ": " << count.status();
    EXPECT_EQ(count->num_combinations, expected.num_combinations) << expected.name;
    EXPECT_EQ(count->num_valid, expected.num_valid) << expected.name;
    std::int64_t num_visited = 0;
    EXPECT_TRUE(
        file->space.visit([&](const tuning::TuningValues&) { return ++num_visited > 0; }).ok());
    EXPECT_EQ(num_visited, expected.num_valid) << expected.name;
    const bool is_valid_by_default = expected.name.starts_with("ktt/");
    EXPECT_EQ(file->warnings.empty(), is_valid_by_default) << expected.name;
  }
}

TEST(T1File, RefusesThePublicFileThatDividesByAnUnknownParameter) {
  std::ifstream stream("../shared/data/kernel_tuner/cache_file_T1_input.json");
  if (!stream) {
    GTEST_SKIP() << "../shared/data is not there";
  }
  EXPECT_EQ(error_of(std::string(std::istreambuf_iterator<char>(stream), {})),
            "KernelSpecification.GridDivY[0]: unsupported expression: position 1: unknown name "
            "`block_size_y`");
}

}  // namespace
}  // namespace assay::client
