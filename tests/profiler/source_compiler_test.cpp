#include "profiler/source_compiler.h"

#include "profiler/cubin.h"
#include "profiler/failure_class.h"
#include "profiler/machine_code.h"
#include "tuning/source_spec.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

// An address space of the sanitizer's size is beyond any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasAddressSpace = false;
#else
constexpr bool kHasAddressSpace = true;
#endif

CompileJob job_of(const std::string& text) {
  CompileJob job;
  v1::SourceFile& file = job.files.emplace_back();
  file.set_name("kernel.cu");
  file.set_text(text);
  job.source = "kernel.cu";
  job.architecture = "sm_80";
  return job;
}

void add_file(CompileJob& job, const std::string& name, const std::string& text) {
  v1::SourceFile& file = job.files.emplace_back();
  file.set_name(name);
  file.set_text(text);
}

class SourceCompilerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kHasAddressSpace) {
      GTEST_SKIP() << "a sanitizer needs more address space than the compiler gets";
    }
    if (const absl::Status status = SourceCompiler::availability(false); !status.ok()) {
      GTEST_SKIP() << status;
    }
  }

  std::shared_ptr<const CompiledSource> compiled(const CompileJob& job) {
    auto result = compiler_.compile(job);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : std::make_shared<const CompiledSource>();
  }

  std::string error_of(const CompileJob& job, absl::StatusCode code) {
    const auto result = compiler_.compile(job);
    EXPECT_EQ(result.status().code(), code) << result.status();
    EXPECT_EQ(failure_of(result.status()), v1::COMPILE);
    return std::string(result.status().message());
  }

  SourceCompiler compiler_{SourceCompiler::Settings()};
};

constexpr const char* kMultiplyAdd =
    "extern \"C\" __global__ void mad(float* p) { p[0] = p[1] * p[2] + p[3]; }\n";

TEST_F(SourceCompilerTest, ShowsTheMissingHeaderWithItsLine) {
  const std::string message = error_of(job_of("// computes\n#include \"dedispersion.h\"\n"),
                                       absl::StatusCode::kInvalidArgument);
  EXPECT_NE(message.find("kernel.cu(2): catastrophic error: cannot open source file "
                         "\"dedispersion.h\""),
            std::string::npos)
      << message;
}

TEST_F(SourceCompilerTest, ListsTheKernelsThatThereAre) {
  CompileJob job = job_of(
      "template <class T> __global__ void scale(T* p) { *p *= 2; }\n"
      "__global__ void shift(int* p) { *p += 1; }\n"
      "extern \"C\" __global__ void plain(int* p) { *p = 1; }\n");
  job.names = {"skale<float>"};
  const std::string message = error_of(job, absl::StatusCode::kNotFound);
  EXPECT_NE(message.find("no kernel `skale<float>` in `kernel.cu`: the module holds shift(int*), "
                         "plain"),
            std::string::npos)
      << message;
}

TEST_F(SourceCompilerTest, SaysWhenTheModuleHoldsNoKernelAtAll) {
  CompileJob job = job_of("template <class T> __global__ void scale(T* p) { *p *= 2; }\n");
  job.names = {"nothing"};
  const std::string message = error_of(job, absl::StatusCode::kNotFound);
  EXPECT_NE(message.find("the module holds no kernel"), std::string::npos) << message;
}

TEST_F(SourceCompilerTest, KeepsOneChildOverCompileErrors) {
  error_of(job_of("__global__ void broken() { nothing; }\n"), absl::StatusCode::kInvalidArgument);
  CompileJob job = job_of(kMultiplyAdd);
  job.options = {"--pre-include=/etc/passwd"};
  EXPECT_NE(error_of(job, absl::StatusCode::kInvalidArgument).find("options[0]: option `--pre-"),
            std::string::npos);
  EXPECT_FALSE(compiled(job_of(kMultiplyAdd))->cubin.empty());
}

TEST_F(SourceCompilerTest, NamesTheLimitAndTheSize) {
  CompileJob job = job_of(std::string(tuning::kMaxSourceFileBytes + 1, ' '));
  EXPECT_EQ(error_of(job, absl::StatusCode::kInvalidArgument),
            "files[0].text: 1,048,577 bytes are over the limit of 1,048,576");
  job = job_of("");
  for (std::size_t file = 0; file < 5; ++file) {
    add_file(job, "part" + std::to_string(file) + ".h", std::string(900'000, ' '));
  }
  EXPECT_EQ(error_of(job, absl::StatusCode::kInvalidArgument),
            "files: 4,500,000 bytes are over the limit of 4,194,304");
  job = job_of("");
  for (int file = 0; file < tuning::kMaxSourceFiles; ++file) {
    add_file(job, "part" + std::to_string(file) + ".h", "");
  }
  EXPECT_EQ(error_of(job, absl::StatusCode::kInvalidArgument),
            "files: 65 are over the limit of 64");
}

TEST_F(SourceCompilerTest, RefusesFileNamesThatLeaveTheirFolder) {
  for (const char* const name : {"/etc/passwd", "../kernel.h", "a/../../b.h", "", "a\nb", "a//b"}) {
    CompileJob job = job_of(kMultiplyAdd);
    add_file(job, name, "");
    EXPECT_NE(error_of(job, absl::StatusCode::kInvalidArgument).find("files[1].name: must be"),
              std::string::npos)
        << name;
  }
}

// Spellings of an include of the system's account file.
constexpr std::array<const char*, 18> kSpellings = {
    "#include \"/etc/passwd\"\n",
    "#include </etc/passwd>\n",
    "#include \"../../../../../../../etc/passwd\"\n",
    "#include <../../../../../../../etc/passwd>\n",
    "#include \"/proc/self/root/etc/passwd\"\n",
    "%:include \"/etc/passwd\"\n",
    "?\?=include \"/etc/passwd\"\n",
    "#inc\\\nlude \"/etc/passwd\"\n",
    "#include \"/etc/pass\\\nwd\"\n",
    "#define FILE_OF_HOST \"/etc/passwd\"\n#include FILE_OF_HOST\n",
    "#define OPEN <\n#define FILE_OF_HOST OPEN/etc/passwd>\n#include FILE_OF_HOST\n",
    "# /**/ include /**/ \"/etc/passwd\"\n",
    "#include_next \"/etc/passwd\"\n",
    "#import \"/etc/passwd\"\n",
    "#embed \"/etc/passwd\"\n",
    "__device__ const char text[] = {\n#embed \"/etc/passwd\"\n};\n",
    "_Pragma(\"include \\\"/etc/passwd\\\"\")\n#include \"/etc/passwd\"\n",
    "#line 1 \"/etc/passwd\"\n#include \"/etc/passwd\"\n",
};

std::vector<std::string> lines_of_the_account_file() {
  std::ifstream file("/etc/passwd");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

void expect_none_of(const std::vector<std::string>& lines, const std::string& log) {
  for (const std::string& line : lines) {
    EXPECT_EQ(log.find(line), std::string::npos) << "shows\n" << log;
  }
}

TEST_F(SourceCompilerTest, ShowsNoLineOfAFileOfTheHostInAnySpelling) {
  const std::vector<std::string> lines = lines_of_the_account_file();
  ASSERT_FALSE(lines.empty());
  for (const char* const text : kSpellings) {
    SCOPED_TRACE(text);
    CompileJob job = job_of(text);
    job.options = {"--std=c++20"};
    const auto result = compiler_.compile(job);
    EXPECT_FALSE(result.ok());
    expect_none_of(lines, std::string(result.status().message()));
  }
}

// What the compiler says before anything is taken out of it: it could not open the file.
TEST_F(SourceCompilerTest, CannotReadAFileOfTheHostInAnySpelling) {
  const std::vector<std::string> lines = lines_of_the_account_file();
  const auto files = find_toolkit_files();
  ASSERT_TRUE(files.ok());
  v1::CompilerSettings settings;
  settings.set_library(files->library);
  settings.set_memory_bytes(CompileLimits().memory_bytes);
  const auto process = CompilerProcess::start("/proc/self/exe", settings, {});
  ASSERT_TRUE(process.ok()) << process.status();
  for (const char* const text : kSpellings) {
    SCOPED_TRACE(text);
    v1::CompileRequest request;
    request.add_files()->set_name("kernel.cu");
    request.mutable_files(0)->set_text(text);
    request.add_options("--gpu-architecture=sm_80");
    const auto reply = (*process)->compile(request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_NE(reply->code(), 0);
    expect_none_of(lines, reply->log());
    EXPECT_EQ(reply->log().find("/etc/passwd(1): error: this"), std::string::npos);
  }
}

TEST_F(SourceCompilerTest, DoesNotTellWhetherAFileIsThere) {
  const auto looks_there = [&](const std::string& file) {
    return compiler_.compile(job_of("#if __has_include(\"" + file + "\")\n#error there\n#endif\n"))
        .ok();
  };
  EXPECT_TRUE(looks_there("/etc/passwd"));
  EXPECT_TRUE(looks_there("/etc/no_such_file"));
  EXPECT_TRUE(looks_there("../../../../etc/passwd"));
  EXPECT_TRUE(looks_there("/proc/self/environ"));
  EXPECT_FALSE(looks_there("cuda_fp16.h"));
}

TEST_F(SourceCompilerTest, NamesNoFolderOfTheHost) {
  const std::string message = error_of(
      job_of("#include <cuda_fp16.h>\n__global__ void k(__half* p) { *p = __half(\"x\"); }\n"),
      absl::StatusCode::kInvalidArgument);
  EXPECT_NE(message.find("\ncuda_fp16.h("), std::string::npos) << message;
  EXPECT_EQ(message.find("/include"), std::string::npos) << message;
  EXPECT_EQ(message.find("struct __CUDA_ALIGN__"), std::string::npos) << message;
}

TEST_F(SourceCompilerTest, CompilesWithTheToolkitsHeadersAndTheUsersOwn) {
  CompileJob job = job_of(
      "#include <cuda_fp16.h>\n#include \"parts/tile.h\"\n"
      "extern \"C\" __global__ void widen(const __half* in, float* out) {\n"
      "  out[threadIdx.x * TILE] = __half2float(in[threadIdx.x]);\n}\n");
  add_file(job, "parts/tile.h", "#define TILE 4\n");
  job.names = {"widen"};
  const auto result = compiled(job);
  EXPECT_EQ(result->symbols, std::vector<std::string>{"widen"});
  EXPECT_TRUE(machine_code_digest(result->cubin, "widen").ok());
}

TEST_F(SourceCompilerTest, FindsATemplatedKernelByItsNameExpression) {
  CompileJob job =
      job_of("template <class T, int N> __global__ void scale(T* p) { p[threadIdx.x] *= N; }\n");
  job.names = {"scale<float, 4>", "scale<int, 2>"};
  const auto result = compiled(job);
  ASSERT_EQ(result->symbols.size(), 2U);
  const auto kernels = kernels_of(result->cubin);
  ASSERT_TRUE(kernels.ok());
  EXPECT_EQ(*kernels, result->symbols);
}

TEST_F(SourceCompilerTest, ContractsOnlyWithFmadAndGivesThatAnotherIdentity) {
  CompileJob job = job_of(kMultiplyAdd);
  job.options = {"--fmad=true"};
  const auto contracted = compiled(job);
  job.options = {"--fmad=false"};
  const auto plain = compiled(job);
  job.options.clear();
  const auto by_default = compiled(job);
  EXPECT_NE(contracted->cubin, plain->cubin);
  EXPECT_EQ(*machine_code_digest(contracted->cubin, "mad"),
            *machine_code_digest(by_default->cubin, "mad"));
  EXPECT_NE(contracted->identity, plain->identity);
  EXPECT_NE(contracted->identity, by_default->identity);
}

TEST_F(SourceCompilerTest, HasAnIdentityOfEverythingThatItIsMadeFrom) {
  const CompileJob first = job_of(kMultiplyAdd);
  const auto result = compiled(first);
  EXPECT_EQ(compiled(first), result);
  EXPECT_EQ(result->compiler.substr(0, 6), "NVRTC ");

  CompileJob other = first;
  other.defines = {"A=1"};
  EXPECT_NE(compiled(other)->identity, result->identity);
  other = first;
  other.architecture = "sm_90";
  EXPECT_NE(compiled(other)->identity, result->identity);
  other = first;
  add_file(other, "unused.h", "");
  EXPECT_NE(compiled(other)->identity, result->identity);
  other = first;
  other.files[0].set_text(first.files[0].text() + "\n");
  EXPECT_NE(compiled(other)->identity, result->identity);
  other = first;
  other.names = {"mad"};
  EXPECT_NE(compiled(other)->identity, result->identity);
}

TEST_F(SourceCompilerTest, KeepsABoundedNumberOfResults) {
  CompileJob job = job_of(kMultiplyAdd);
  for (std::size_t index = 0; index <= kMostKeptCubins; ++index) {
    job.defines = {"INDEX=" + std::to_string(index)};
    compiled(job);
  }
  EXPECT_EQ(compiler_.num_kept(), kMostKeptCubins);
}

// A source as tuners write it: its own values, unless one says that it sets them.
constexpr const char* kTunable = R"(
#ifndef kernel_tuner
#undef block_x
#undef block_y
#define block_x 16
#define block_y 16
#endif
#define halo 2
extern "C" __global__ void smooth(const float* in, float* out, int width) {
  __shared__ float tile[block_y + 2 * halo][block_x + 2 * halo];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * width + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * width + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
)";

TEST_F(SourceCompilerTest, TunesWhatTheDefinesSayOnceTheDialectsMacroIsThere) {
  CompileJob job = job_of(kTunable);
  job.defines = {"block_x=32", "block_y=8"};
  for (const char* const architecture : {"sm_80", "sm_90"}) {
    job.architecture = architecture;
    job.defines.resize(2);
    EXPECT_EQ(*static_shared_bytes(compiled(job)->cubin, "smooth", architecture), 20 * 20 * 4);
    job.defines.emplace_back("kernel_tuner=1");
    EXPECT_EQ(*static_shared_bytes(compiled(job)->cubin, "smooth", architecture), 12 * 36 * 4);
  }
}

TEST_F(SourceCompilerTest, ShowsThatAMacroWasRedefined) {
  CompileJob job = job_of(std::string("#define block_x 16\n") + kMultiplyAdd);
  job.defines = {"block_x=32"};
  EXPECT_NE(compiled(job)->log.find("kernel.cu(1): warning #47-D: incompatible redefinition of "
                                    "macro \"block_x\""),
            std::string::npos);
}

// Twice as many instantiations with each level.
constexpr const char* kEndless = R"(
template <int D, unsigned long P> struct Tree {
  static const int value = Tree<D - 1, 2 * P>::value + Tree<D - 1, 2 * P + 1>::value;
};
template <unsigned long P> struct Tree<0, P> { static const int value = 1; };
__global__ void grow(int* p) { *p = Tree<40, 0>::value; }
)";

class SourceCompilerLimits : public SourceCompilerTest {
 protected:
  static absl::Status endless_with(CompileLimits limits) {
    SourceCompiler compiler({.limits = limits});
    const absl::Status status = compiler.compile(job_of(kEndless)).status();
    EXPECT_EQ(failure_of(status), v1::COMPILE);
    // The next one gets another child.
    EXPECT_TRUE(compiler.compile(job_of(kMultiplyAdd)).ok());
    return status;
  }
};

TEST_F(SourceCompilerLimits, EndTheCompileAtItsProcessorTime) {
  const absl::Status status = endless_with({.processor = std::chrono::seconds(1)});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_NE(std::string(status.message()).find("used up its 1 s of processor time"),
            std::string::npos)
      << status;
}

TEST_F(SourceCompilerLimits, KillTheCompilerAtTheirWallClock) {
  const absl::Status status = endless_with({.wall = std::chrono::seconds(4)});
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_NE(std::string(status.message()).find("killed after 4 s"), std::string::npos) << status;
}

TEST_F(SourceCompilerLimits, EndTheCompileAtItsMemory) {
  const absl::Status status = endless_with({.memory_bytes = std::int64_t{640} << 20});
  EXPECT_FALSE(status.ok());
  EXPECT_NE(absl::StatusCode::kDeadlineExceeded, status.code()) << status;
}

}  // namespace
}  // namespace assay::profiler
