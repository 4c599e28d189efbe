#include "client/source_file.h"

#include "tests/temporary_folder.h"
#include "tuning/content_digest.h"
#include "tuning/source_sizes.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace assay::client {
namespace {

constexpr const char* kScale = R"({
  "name": "scale",
  "files": [{"name": "scale.cu"}],
  "axes": [{"name": "n", "default_value": 4, "min": 1, "max": 1000}],
  "tensors": [
    {"name": "a", "dtype": "f32", "role": "input", "shape": ["n"]},
    {"name": "out", "dtype": "f32", "role": "output", "shape": ["n"]}
  ],
  "stages": [{
    "name": "scale", "kernel": "scale", "grid": ["1"], "block": ["n"],
    "arguments": [{"tensor": "a"}, {"tensor": "out"}]
  }]
})";

class SourceFile : public testing::Test {
 protected:
  void SetUp() override { write("scale.cu", "__global__ void scale() {}\n"); }

  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  absl::StatusOr<SourceBundle> read(const std::string& text) {
    write("spec.json", text);
    return read_source_file(folder_ / "spec.json");
  }

  // Without the path that errors begin with.
  std::string error_of(const std::string& text) {
    const std::string error = read(text).status().ToString();
    return absl::StrReplaceAll(error, {{absl::StrCat(folder_ / "spec.json", ": "), ""}});
  }

  // kScale with `fill` for a, or `reference` for out.
  static std::string with(const std::string& fill, const std::string& reference = "") {
    return absl::StrReplaceAll(
        kScale,
        {{R"("input", "shape": ["n"])", R"("input", "shape": ["n"])" + fill},
         {R"("output", "shape": ["n"])", R"("output", "shape": ["n"])" + reference}});
  }

  static std::string names_of(const SourceBundle& bundle) {
    std::string names;
    for (const v1::SourceFile& file : bundle.spec.files()) {
      absl::StrAppend(&names, file.name(), " ");
    }
    return names;
  }

  Folder folder_;
};

TEST_F(SourceFile, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(read_source_file(folder_ / "none.json").status().ToString(),
            "NOT_FOUND: none.json not found");
  EXPECT_EQ(error_of(""), "INVALID_ARGUMENT: empty file");
  EXPECT_NE(error_of(R"({"name": "a", "sources": []})").find("sources: Cannot find field"),
            std::string::npos);
  EXPECT_EQ(error_of(R"({"name": "a", "name": "b"})"),
            "INVALID_ARGUMENT: name: stands twice in one object");
  EXPECT_EQ(error_of(R"({"name": "a", "files": [{"name": "a.cu", "text": "x"}]})"),
            "INVALID_ARGUMENT: source.files[0].text: is read from the file of its name; leave it "
            "out");
  EXPECT_EQ(error_of(absl::StrReplaceAll(kScale, {{"[\"n\"],\n    \"arg", "[\"m\"],\n    \"arg"}}))
                .substr(0, 65),
            "INVALID_ARGUMENT: source.stages[0].block[0]: unsupported expressi");
}

TEST_F(SourceFile, OpensNothingOutsideOfItsFolder) {
  const auto with_file = [](const std::string& name) {
    return absl::StrReplaceAll(kScale, {{"scale.cu", name}});
  };
  EXPECT_EQ(error_of(with_file("/etc/passwd")),
            "INVALID_ARGUMENT: source.files[0]: `/etc/passwd` must be relative to the "
            "specification's folder, without `..`");
  EXPECT_EQ(error_of(with_file("a/../../b.cu")),
            "INVALID_ARGUMENT: source.files[0]: `a/../../b.cu` must be relative to the "
            "specification's folder, without `..`");
  EXPECT_EQ(error_of(with_file("other.cu")), "NOT_FOUND: source.files[0]: other.cu not found");
  write("sub/a.cu", "");
  EXPECT_EQ(error_of(with_file("sub")),
            "UNAVAILABLE: source.files[0]: sub cannot be read: no file");
  EXPECT_EQ(error_of(with(R"(, "fill": {"kind": "file", "file": "../a.npy"})")),
            "INVALID_ARGUMENT: source.tensors[0].fill.file: data source `../a.npy` must be "
            "relative to the specification's folder, without `..`");
}

TEST_F(SourceFile, NamesLimitAndSizeOfALargeSource) {
  write("scale.cu", std::string((1 << 20) + 1, ' '));
  EXPECT_EQ(error_of(kScale),
            "RESOURCE_EXHAUSTED: source.files[0]: scale.cu has 1,048,577 bytes, the limit is "
            "1,048,576");
  write("scale.cu", "// \xe9t\xe9\n");
  EXPECT_EQ(error_of(kScale), "INVALID_ARGUMENT: source.files[0]: scale.cu is not UTF-8 text");
}

TEST_F(SourceFile, BringsTheHeadersThatLieBesideIt) {
  write("scale.cu",
        "#include <cuda_fp16.h>\n  #  include \"sub/b.h\"\n#include \"not_here.h\"\n"
        "#include \"../up.h\"\n");
  write("sub/b.h", "#include \"c.h\"\n#include \"scale.cu\"\n");
  write("sub/c.h", "#include \"c.h\"\n");
  write("c.h", "not this one");
  const auto bundle = read(kScale);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(names_of(*bundle), "scale.cu sub/b.h c.h ");
  EXPECT_EQ(bundle->spec.files(2).text(), "#include \"c.h\"\n");
  write("scale.cu", "#include \"sub/b.h\"\n#include \"c.h\"\n");
  EXPECT_EQ(error_of(kScale),
            "INVALID_ARGUMENT: source.files[1]: includes \"c.h\", which is c.h for one file and "
            "sub/c.h for another");
}

TEST_F(SourceFile, RefusesMoreHeadersThanASpecificationHas) {
  std::string includes;
  for (int i = 0; i < 64; ++i) {
    write(absl::StrCat("h", i, ".h"), "");
    absl::StrAppend(&includes, "#include \"h", i, ".h\"\n");
  }
  write("scale.cu", includes);
  EXPECT_EQ(error_of(kScale),
            "RESOURCE_EXHAUSTED: source.files[0]: includes \"h63.h\", one more than the limit of "
            "64 files");
}

TEST_F(SourceFile, PutsNoZerosInThePlaceOfMissingData) {
  EXPECT_EQ(error_of(with(R"(, "fill": {"kind": "file", "file": "a.bin"})")),
            "NOT_FOUND: source.tensors[0].fill.file: data source a.bin not found");
  write("a.bin", std::string(15, 'x'));
  EXPECT_EQ(error_of(with(R"(, "fill": {"kind": "file", "file": "a.bin"})")),
            "INVALID_ARGUMENT: source.tensors[0].fill.file: a.bin has 15 bytes, the tensor's f32 "
            "[4] need 16");
  EXPECT_EQ(error_of(with("", R"(, "reference": {"file": "a.bin"})")),
            "INVALID_ARGUMENT: source.tensors[1].reference.dtype: is needed for a raw file: f32 or "
            "f64");
  write("a.npy",
        std::string("\x93NUMPY\x01\x00\x3d\x00", 10) +
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n\n" +
            std::string(32, 'x'));
  EXPECT_EQ(error_of(with(R"(, "fill": {"kind": "file", "file": "a.npy"})")),
            "INVALID_ARGUMENT: source.tensors[0].fill.file: a.npy has elements of f64, expected "
            "f32");
  EXPECT_EQ(error_of(with("", R"(, "reference": {"file": "a.npy"})")),
            "INVALID_ARGUMENT: source.tensors[1].reference.file: a.npy has the shape [2, 2], the "
            "tensor [4]");
  EXPECT_EQ(error_of(with(R"(, "fill": {"kind": "file", "file": "a.bin", "digest": "x"})")),
            "INVALID_ARGUMENT: source.tensors[0].fill.digest: is taken of the file; leave it out");
}

// The worked example of the documentation.
TEST_F(SourceFile, ReadsTheExampleOfTheDocumentation) {
  const auto bundle = read_source_file(ASSAY_EXAMPLES "/scale.json");
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const auto info = tuning::describe_source(bundle->spec, "sm_90");
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->variants_size(), 2);
  const v1::SourceSpec complete = tuning::complete_source(bundle->spec);
  tuning::SourceSettings axes;
  axes.Add()->set_name("n");
  axes[0].set_value("1000001");
  // Every element has a thread.
  for (const auto& [variant, elements] : {std::pair("old", 1U), std::pair("new", 4U)}) {
    v1::Arm arm;
    arm.set_variant(variant);
    const auto stages = tuning::source_stages(complete, axes, arm);
    ASSERT_TRUE(stages.ok()) << stages.status();
    const std::uint32_t per_block = elements * stages->front().block[0];
    EXPECT_GE(stages->front().grid[0] * per_block, 1'000'001U);
    EXPECT_LT((stages->front().grid[0] - 1) * per_block, 1'000'001U);
  }
}

TEST_F(SourceFile, KeepsTheBytesOfItsDataByTheirDigest) {
  const std::string floats(16, 'x');
  const std::string doubles(32, 'y');
  write("a.bin", floats);
  write("out.npy",
        std::string("\x93NUMPY\x01\x00\x3b\x00", 10) +
            "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }\n\n" + doubles);
  const auto bundle = read(with(R"(, "fill": {"kind": "file", "file": "a.bin"})",
                                R"(, "reference": {"file": "out.npy", "relative": 0.01})"));
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const v1::SourceFill& fill = bundle->spec.tensors(0).fill();
  const v1::SourceReference& reference = bundle->spec.tensors(1).reference();
  EXPECT_EQ(fill.digest(), tuning::content_digest(floats));
  EXPECT_EQ(reference.dtype(), "f64");
  ASSERT_EQ(bundle->data.size(), 2U);
  EXPECT_EQ(bundle->data.at(fill.digest()), floats);
  EXPECT_EQ(bundle->data.at(reference.digest()), doubles);
  EXPECT_EQ(bundle->spec.files(0).text(), "__global__ void scale() {}\n");
}

}  // namespace
}  // namespace assay::client
