#include "client/t1_source.h"

#include "proto/text.h"
#include "tests/temporary_folder.h"
#include "tuning/source_sizes.h"
#include "tuning/source_space.h"
#include "tuning/source_spec.h"
#include "tuning/sweep_space.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace assay::client {
namespace {

// The two dialects, as small as they get.
constexpr const char* kTuner = R"x({
  "General": {"BenchmarkName": "add"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128]", "Default": 512},
      {"Name": "tile", "Type": "int", "Values": "[1, 2]", "Default": 1},
      {"Name": "wide", "Type": "bool", "Values": "[False, True]", "Default": false}
    ],
    "Conditions": [{"Expression": "32 < block_size_x*tile <= 128", "Parameters": []}]
  },
  "KernelSpecification": {
    "Language": "CUDA", "CompilerOptions": ["-std=c++17", ""], "KernelName": "add",
    "KernelFile": "add.cu", "GlobalSizeType": "CUDA", "SharedMemory": 64, "Stream": null,
    "LocalSize": {"X": "block_size_x", "Y": "2"},
    "GridDivX": ["block_size_x", "tile"], "ProblemSize": [1000, 6],
    "Arguments": [
      {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
       "FillType": "Random", "FillValue": 2.0, "Size": "ProblemSize[0] + max(tile)"},
      {"Name": "c", "Type": "float2", "TypeSize": 8, "MemoryType": "Vector",
       "AccessType": "ReadWrite", "FillType": "Constant", "FillValue": 0.5, "Size": 500,
       "Output": 1},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 1000}
    ]
  }
})x";

constexpr const char* kKtt = R"({
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "LOCAL", "Type": "uint", "Values": "[8, 16]"},
      {"Name": "MODE", "Type": "string", "Values": "['rows', 'cols']"}
    ]
  },
  "KernelSpecification": {
    "Language": "CUDA", "KernelName": "add", "KernelFile": "add.cu",
    "GlobalSizeType": "OpenCL",
    "GlobalSize": {"X": "2048 * LOCAL // 64"}, "LocalSize": {"X": "LOCAL"},
    "Arguments": [
      {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly",
       "FillType": "Generator", "DataSource": "1 + i*0.5 if i%2 < 1 else 0", "Size": 4},
      {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
       "FillType": "Constant", "FillValue": 0.0, "Size": 4},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 4}
    ],
    "ReferenceArguments": [
      {"Name": "r", "FillType": "Generator", "DataSource": "2 * i", "TargetName": "c",
       "ValidationMethod": "SideBySideComparison", "ValidationThreshold": 0.01}
    ]
  }
})";

constexpr const char* kAdd =
    "// add(float* a)\n"
    "extern \"C\" __global__ void add(const float* __restrict__ a, float2* c, int n) { add2(n); "
    "}\n";

class T1Source : public testing::Test {
 protected:
  void SetUp() override { write("add.cu", kAdd); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  absl::StatusOr<SourceBundle> read(const std::string& text) {
    return parse_source_file(text, SourceFolder(folder_ / ""));
  }

  std::string error_of(const std::string& text) { return read(text).status().ToString(); }

  static std::string changed(const char* text, const std::string& from, const std::string& to) {
    const std::string result = absl::StrReplaceAll(text, {{from, to}});
    EXPECT_NE(result, text) << from;
    return result;
  }

  static tuning::StageSizes sizes_of(const SourceBundle& bundle, const std::string& arm) {
    const auto stages =
        tuning::source_stages(tuning::complete_source(bundle.spec), {}, *proto::parse_arm(arm));
    EXPECT_TRUE(stages.ok()) << stages.status();
    return stages.ok() ? stages->front() : tuning::StageSizes();
  }

  Folder folder_;
};

TEST_F(T1Source, RefusesWhatCannotBeRunByItsField) {
  const std::string field = "INVALID_ARGUMENT: KernelSpecification.";
  const auto expect =
      [&](const std::string& from, const std::string& to, const std::string& error) {
        EXPECT_EQ(error_of(changed(kTuner, from, to)), error) << to;
      };
  EXPECT_EQ(error_of(R"({"ConfigurationSpace": {"TuningParameters": [
              {"Name": "a", "Type": "int", "Values": "[1]"}]}})"),
            "INVALID_ARGUMENT: KernelSpecification: missing; there is nothing to run");
  expect(R"("CUDA", "Comp)",
         R"("OpenCL", "Comp)",
         field + "Language: `OpenCL` cannot be compiled here; expected CUDA");
  expect("\"add.cu\"",
         "\"add.cu.hip\"",
         field + "KernelFile: `add.cu.hip` is no CUDA source, although Language is CUDA");
  expect("\"add.cu\"", "\"other.cu\"", "NOT_FOUND: source.files[0]: other.cu not found");
  expect("GridDivX",
         "GridDivW",
         field +
             "GridDivW: unknown field; expected Language, "
             "CompilerOptions, BenchmarkName, KernelName, KernelFile, Profiling, SharedMemory, "
             "SimulationInput, Device, GlobalSizeType, GlobalSize, LocalSize, GridDivX, GridDivY, "
             "GridDivZ, ProblemSize, Stream, Misc, Arguments, BenchmarkConfig, ReferenceArguments");
  expect("Vector\", \"AccessType\": \"ReadOnly",
         "Symbol\", \"AccessType\": \"ReadOnly",
         field + "Arguments[0].MemoryType: `Symbol` cannot be run here; expected Scalar or Vector");
  expect(R"("FillType": "Random")",
         R"("FillType": "Script")",
         field +
             "Arguments[0].FillType: `Script` cannot be run here; expected Constant, Random, "
             "Generator or BinaryRaw");
  expect(R"("FillType": "Random")",
         R"("MemType": "Constant", "FillType": "Random")",
         field + "Arguments[0].MemType: \"Constant\" cannot be run here; expected \"Global\"");
  expect("\"TypeSize\": 8",
         "\"TypeSize\": 4",
         field + "Arguments[1].TypeSize: 4, but float2 has 8 bytes");
  expect("\"ReadWrite\"",
         "\"Both\"",
         field + "Arguments[1].AccessType: `Both`: expected ReadOnly, WriteOnly or ReadWrite");
  expect("< block_size_x*tile <=",
         "> block_size_x*tile >",
         "INVALID_ARGUMENT: "
         "ConfigurationSpace.Conditions: no configuration is valid");
}

TEST_F(T1Source, RefusesArgumentsThatTheKernelDoesNotTake) {
  const std::string field = "INVALID_ARGUMENT: KernelSpecification.Arguments";
  write("add.cu", "__global__ void add(const float* a, float* c) {}");
  EXPECT_EQ(error_of(kTuner), field + ": 3 of them, but `add` takes 2");
  write("add.cu", "__global__ void add(const unsigned char* a, float* c, int n) {}");
  EXPECT_EQ(error_of(kTuner), field + "[0].Type: is f32 here, but `add` takes u8 elements");
  write("add.cu", "__global__ void add(const float* a, float* c, float* n) {}");
  EXPECT_EQ(error_of(kTuner), field + "[2]: is a scalar, but `add` takes a pointer");
  write("add.cu", "__global__ void add(const float* a, float* c, float n) {}");
  EXPECT_EQ(error_of(kTuner), field + "[2].Type: is i32 here, but `add` takes f32");
  // What cannot be told without a compiler is left to it.
  write("add.cu", "__global__ void add(const float* a,\n#if 1\nint n\n#endif\n) {}");
  EXPECT_TRUE(read(kTuner).ok());
}

TEST_F(T1Source, PutsNoZerosInThePlaceOfMissingData) {
  const std::string file = changed(
      kKtt, R"("Generator", "DataSource": "2 * i")", R"("BinaryRaw", "DataSource": "out.bin")");
  EXPECT_EQ(error_of(file),
            "NOT_FOUND: source.tensors[1].reference.file: data source out.bin not found");
  write("out.bin", std::string(15, 'x'));
  EXPECT_EQ(error_of(file),
            "INVALID_ARGUMENT: source.tensors[1].reference.file: out.bin has 15 bytes, the "
            "tensor's f32 [4] need 16");
  EXPECT_EQ(error_of(changed(kKtt, "\"2 * i\"", "\"1 // i\"")).substr(0, 79),
            "INVALID_ARGUMENT: KernelSpecification.ReferenceArguments[0].DataSource: i=0: un");
  EXPECT_EQ(error_of(changed(kKtt, "\"TargetName\": \"c\"", "\"TargetName\": \"a\"")),
            "INVALID_ARGUMENT: KernelSpecification.ReferenceArguments[0].TargetName: `a` is no "
            "argument that the kernel writes");
}

TEST_F(T1Source, ReadsKernelTunersDialect) {
  const auto bundle = read(kTuner);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  const v1::SourceSpec& spec = bundle->spec;
  EXPECT_EQ(spec.name(), "add");
  ASSERT_EQ(spec.defines_size(), 3);
  EXPECT_EQ(spec.defines(0), "kernel_tuner=1");
  EXPECT_EQ(spec.defines(1), "block_size_y=2");
  EXPECT_EQ(spec.defines(2), "block_size_z=1");
  ASSERT_EQ(spec.options_size(), 1);
  EXPECT_EQ(spec.tensors(0).shape(0), "1002");
  EXPECT_EQ(spec.tensors(0).fill().high(), 2);
  EXPECT_EQ(spec.tensors(1).role(), "in_out");
  EXPECT_EQ(spec.tensors(1).shape(0), "1000");
  EXPECT_EQ(spec.parameters(2).values(1), "true");
  // The file's default is no configuration; the first valid one is 32 x 2.
  EXPECT_EQ(spec.parameters(0).default_value(), "32");
  EXPECT_EQ(spec.parameters(1).default_value(), "2");
  EXPECT_EQ(bundle->warnings.size(), 2U);
  const tuning::StageSizes sizes = sizes_of(*bundle, "source:block_size_x=64,tile=2");
  EXPECT_EQ(sizes.grid, (std::array<std::uint32_t, 3>{8, 6, 1}));
  EXPECT_EQ(sizes.block, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(sizes.shared_bytes, 64);
  std::vector<v1::Axis> axes;
  for (const v1::SourceParameter& parameter : spec.parameters()) {
    axes.emplace_back().set_name(parameter.name());
    *axes.back().mutable_values() = parameter.values();
  }
  const auto restrictions = tuning::variant_restrictions(tuning::complete_source(spec), "source");
  ASSERT_TRUE(restrictions.ok()) << restrictions.status();
  const auto points = tuning::sweep_points(axes, {}, *restrictions);
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->size(), 8U);
}

TEST_F(T1Source, DividesThreadsOfOpenClByThoseOfABlock) {
  write("add.cu", "template <int> __global__ void other(int);\n");
  const auto bundle = read(kKtt);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(bundle->spec.defines_size(), 0);
  EXPECT_EQ(sizes_of(*bundle, "source:LOCAL=8").grid[0], 32U);
  EXPECT_EQ(sizes_of(*bundle, "source:LOCAL=8").block[0], 8U);
  const v1::SourceTensor& in = bundle->spec.tensors(0);
  std::array<float, 4> values{};
  ASSERT_EQ(bundle->data.at(in.fill().digest()).size(), sizeof values);
  std::memcpy(values.data(), bundle->data.at(in.fill().digest()).data(), sizeof values);
  EXPECT_EQ(values, (std::array<float, 4>{1, 0, 2, 0}));
  const v1::SourceReference& reference = bundle->spec.tensors(1).reference();
  EXPECT_EQ(reference.dtype(), "f64");
  EXPECT_EQ(reference.absolute(), 0.01);
  const auto uneven = read(changed(kKtt, "2048 * LOCAL // 64", "100"));
  ASSERT_TRUE(uneven.ok()) << uneven.status();
  EXPECT_EQ(
      tuning::source_stages(tuning::complete_source(uneven->spec), {}, *proto::parse_arm("source"))
          .status()
          .ToString(),
      "INVALID_ARGUMENT: stage kernel.grid.x: `(100) / (LOCAL)` is 12.5, expected an "
      "integer of at least 1 (LOCAL=8)");
}

class PublicT1Source : public T1Source {
 protected:
  // Skips where the public files are not there.
  std::string public_file(const std::string& name) {
    std::ifstream file("../shared/data/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(PublicT1Source, ThatCannotRunSaysWhy) {
  const std::string dedispersion = public_file("benchmark_hub/dedispersion_milo.json");
  if (dedispersion.empty()) {
    GTEST_SKIP() << "no public data files here";
  }
  EXPECT_EQ(error_of(dedispersion),
            "INVALID_ARGUMENT: KernelSpecification.KernelFile: `dedisp_milo/dedispersion.cu.hip` "
            "is no CUDA source, although Language is CUDA");
  EXPECT_EQ(error_of(public_file("kernel_tuner/cache_file_T1_input.json")),
            "INVALID_ARGUMENT: KernelSpecification.GridDivY[0]: unsupported expression: position "
            "1: unknown name `block_size_y`");
  write("CoulombSum3d.cu", "");
  EXPECT_EQ(error_of(public_file("ktt/CoulombSum3d.json")),
            "NOT_FOUND: source.tensors[5].reference.file: data source Coulomb3d.bin not found");
  write("CudaKernel.cu", "");
  EXPECT_EQ(error_of(public_file("ktt/KernelTuningCudaScript.json")),
            "NOT_FOUND: source.tensors[1].fill.file: data source ArgumentData.bin not found");
}

TEST_F(PublicT1Source, HasTheGridThatItsToolGivesIt) {
  const std::string gemm = public_file("ktt/ClTuneGemm.json");
  if (gemm.empty()) {
    GTEST_SKIP() << "no public data files here";
  }
  write("ClTuneGemm.cu", "// in the tool's own folder");
  write("hotspot_milo.cu", "// in the tool's own folder");
  auto bundle = read(gemm);
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(sizes_of(*bundle, "source:MWG=64,MDIMC=8").grid[0], 32U);
  bundle = read(public_file("benchmark_hub/hotspot_milo.json"));
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(bundle->spec.defines(0), "kernel_tuner=1");
  EXPECT_EQ(bundle->spec.tensors(1).shape(0), "16777216");
  const auto sizes = sizes_of(*bundle, "source:block_size_x=32,block_size_y=8,tile_size_x=3");
  EXPECT_EQ(sizes.grid, (std::array<std::uint32_t, 3>{43, 512, 1}));
}

}  // namespace
}  // namespace assay::client
