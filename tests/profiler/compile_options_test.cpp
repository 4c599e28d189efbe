#include "profiler/compile_options.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

std::string refusal_of(const std::string& option) {
  const auto allowed = compile_option(option);
  EXPECT_EQ(allowed.status().code(), absl::StatusCode::kInvalidArgument) << option;
  return std::string(allowed.status().message());
}

TEST(CompileOption, RefusesWhatReadsOrWritesFiles) {
  for (const char* const option : {"--pre-include=/etc/passwd",
                                   "-include=/etc/passwd",
                                   "--time=/tmp/times",
                                   "-time=-",
                                   "--fdevice-time-trace=/tmp/trace",
                                   "--create-pch=/tmp/pch",
                                   "--use-pch=/tmp/pch",
                                   "--pch-dir=/tmp",
                                   "--include-path=/etc",
                                   "-I/etc",
                                   "-I",
                                   "@/etc/passwd",
                                   "/etc/passwd",
                                   "--ptxas-options=-v",
                                   "-Xptxas",
                                   "--device-debug",
                                   "--",
                                   "-",
                                   ""}) {
    const std::string message = refusal_of(option);
    EXPECT_NE(message.find(std::string("option `") + option + "`"), std::string::npos) << message;
    EXPECT_NE(message.find("allowed: --fmad="), std::string::npos) << message;
  }
}

TEST(CompileOption, RefusesValuesThatAreNone) {
  EXPECT_NE(refusal_of("--fmad=maybe").find("needs true or false"), std::string::npos);
  EXPECT_NE(refusal_of("--maxrregcount=0").find("from 1 to 255"), std::string::npos);
  EXPECT_NE(refusal_of("--maxrregcount=32 --time=x").find("from 1 to 255"), std::string::npos);
  EXPECT_NE(refusal_of("--std=c++99").find("no such standard"), std::string::npos);
  EXPECT_NE(refusal_of("--use_fast_math=true").find("not allowed"), std::string::npos);
  EXPECT_NE(refusal_of("-arch=sm_90").find("the architecture is the device's"), std::string::npos);
}

TEST(CompileOption, RefusesMacrosThatAreMoreThanAName) {
  refusal_of("-D");
  refusal_of("-D4=1");
  refusal_of("-DA B=1");
  refusal_of("-DF(x)=x");
  refusal_of("-DA=1\n#include \"/etc/passwd\"");
  refusal_of(std::string("-DA=1\0-x", 8));
  refusal_of("-UA=1");
  refusal_of("-DA=" + std::string(5000, '1'));
}

TEST(CompileOption, HasOneSpellingForEachOption) {
  EXPECT_EQ(*compile_option("-fmad=false"), "--fmad=false");
  EXPECT_EQ(*compile_option("--fmad=false"), "--fmad=false");
  EXPECT_EQ(*compile_option("-use_fast_math"), "--use_fast_math");
  EXPECT_EQ(*compile_option("-lineinfo"), "--generate-line-info");
  EXPECT_EQ(*compile_option("-default-device"), "--device-as-default-execution-space");
  EXPECT_EQ(*compile_option("-std=c++17"), "--std=c++17");
  EXPECT_EQ(*compile_option("--maxrregcount=064"), "--maxrregcount=64");
  EXPECT_EQ(*compile_option("-DTILE=4 * 2"), "-DTILE=4 * 2");
  EXPECT_EQ(*compile_option("-UNDEBUG"), "-UNDEBUG");
}

TEST(DefineOption, IsAMacroWithItsText) {
  EXPECT_EQ(*define_option("kernel_tuner=1"), "-Dkernel_tuner=1");
  EXPECT_EQ(*define_option("FAST"), "-DFAST");
  EXPECT_FALSE(define_option("=1").ok());
}

}  // namespace
}  // namespace assay::profiler
