#include "tests/client/commands_fixture.h"
#include "tests/temporary_folder.h"
#include "tuning/content_digest.h"
#include "tuning/source_spec.h"

#include <string>
#include <vector>

namespace assay::client {
namespace {

constexpr const char* kScale = R"({
  "name": "scale",
  "files": [{"name": "old.cu"}, {"name": "new.cu"}],
  "axes": [{"name": "n", "default_value": 500000, "min": 1, "max": 1000000}],
  "tensors": [
    {"name": "a", "dtype": "f32", "role": "input", "shape": ["n"],
     "fill": {"kind": "file", "file": "a.bin"}},
    {"name": "out", "dtype": "f32", "role": "output", "shape": ["n"]}
  ],
  "stages": [{
    "name": "scale", "kernel": "scale", "grid": ["1"], "block": ["32"],
    "arguments": [{"tensor": "a"}, {"tensor": "out"}]
  }],
  "variants": [{"name": "old"}, {"name": "new", "file": "new.cu"}]
})";

class SourceCommands : public Commands {
 protected:
  void SetUp() override {
    Commands::SetUp();
    write("scale.json", kScale);
    write("old.cu", "old");
    write("new.cu", "new");
    write("a.bin", data_);
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  int compare(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"compare", "--spec", folder_ / "scale.json", "--detach"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_with(arguments);
  }

  Folder folder_;
  const std::string data_ = std::string(2'000'000, 'x');
};

TEST_F(SourceCommands, CountsTheConfigurationsOfASpecificationWithoutADaemon) {
  server_->Shutdown();
  std::string text = kScale;
  text.replace(text.find("\"tensors\""), 0, R"("parameters": [
    {"name": "threads", "values": ["128", "256", "512"]},
    {"name": "items", "values": ["1", "2", "4"]}],
  "restrictions": ["threads * items <= 512", "items < n"],
  )");
  text.replace(text.rfind("{\"name\": \"new\""), 1, R"({"parameters": ["threads"], )");
  write("scale.json", text);
  const std::string path = folder_ / "scale.json";
  EXPECT_EQ(run_with({"sweep", "--spec", path, "--count"}), 0) << err();
  EXPECT_EQ(out(),
            path +
                ": 6 of 9 configurations are valid\n\n"
                "restriction             removes  leaves\n"
                "threads * items <= 512        3       6\n");
  EXPECT_EQ(run_with({"sweep", "--spec", path, "--count", "--variant", "new"}), 0) << err();
  EXPECT_EQ(out(), path + ": 3 of 3 configurations are valid\n");
  EXPECT_EQ(run_with({"sweep", "--spec", path, "--count", "--variant", "newer"}), 2);
  EXPECT_TRUE(said("--variant: no `newer`; there is new, old")) << err();
}

TEST_F(SourceCommands, TakesEitherAnOperatorOrASpecification) {
  EXPECT_NE(run_with({"compare"}), 0);
  EXPECT_TRUE(said("name an operator, or a specification with --spec")) << err();
  EXPECT_EQ(run_with({"compare", "qsa_decode", "--spec", folder_ / "scale.json"}), 2);
  EXPECT_TRUE(said("--spec: stands in the place of the operator; leave `qsa_decode` out, or it"))
      << err();
  EXPECT_TRUE(service_.submitted.empty());
}

TEST_F(SourceCommands, SaysWhatIsWrongWithASpecificationAndUploadsNothing) {
  EXPECT_NE(run_with({"measure", "--spec", folder_ / "none.json"}), 0);
  EXPECT_TRUE(said("--spec: none.json not found")) << err();
  write("scale.json", "{\"name\": \"scale\"}");
  EXPECT_NE(compare(), 0);
  EXPECT_TRUE(said("source.files: must have at least one")) << err();
  EXPECT_TRUE(service_.blobs.empty());
}

TEST_F(SourceCommands, GivesTheDaemonsReasonForAnUploadThatItRefuses) {
  service_.next_status = {grpc::StatusCode::RESOURCE_EXHAUSTED, "num_bytes: 2,000,000 bytes"};
  EXPECT_NE(compare(), 0);
  EXPECT_TRUE(said("num_bytes: 2,000,000 bytes")) << err();
  EXPECT_TRUE(service_.submitted.empty());
}

TEST_F(SourceCommands, UploadsWhatIsMissingAndSubmits) {
  EXPECT_EQ(compare({"--candidate", "new", "-a", "n=7"}), 0) << err();
  ASSERT_EQ(service_.submitted.size(), 1U);
  const v1::ExperimentSpec& spec = service_.submitted[0].spec();
  const std::string bytes = service_.blobs[spec.source_digest()];
  EXPECT_EQ(tuning::content_digest(bytes), spec.source_digest());
  v1::SourceSpec source;
  ASSERT_TRUE(source.ParseFromString(bytes));
  EXPECT_EQ(source.files(1).text(), "new");
  EXPECT_EQ(service_.blobs[source.tensors(0).fill().digest()], data_);
  EXPECT_EQ(spec.operator_name(), tuning::source_operator_name(source));
  EXPECT_EQ(spec.baseline().variant(), "old");
  EXPECT_EQ(spec.candidates(0).variant(), "new");
  EXPECT_EQ(spec.axes(0).values(0), "7");
  EXPECT_EQ(service_.num_uploads, 2);
  EXPECT_EQ(compare({"--candidate", "new"}), 0) << err();
  EXPECT_EQ(service_.num_uploads, 2);
  write("new.cu", "newer");
  EXPECT_EQ(run_with({"measure", "--spec", folder_ / "scale.json", "--variant", "new", "--detach"}),
            0)
      << err();
  EXPECT_EQ(service_.num_uploads, 3);
  EXPECT_EQ(service_.submitted.back().spec().operator_name(), spec.operator_name());
}

}  // namespace
}  // namespace assay::client
