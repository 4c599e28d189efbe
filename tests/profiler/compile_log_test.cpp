#include "profiler/compile_log.h"

#include "profiler/source_limits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::profiler {
namespace {

const std::vector<std::string>& include_folders() {
  static const std::vector<std::string> folders = {"/opt/kit/include", "/opt/kit/include/cccl"};
  return folders;
}

std::string scrub(const std::string& log) {
  return scrub_log(log, {"kernel.cu", "parts/tile.h"}, include_folders());
}

TEST(ScrubLog, LeavesOutMessagesAboutFilesOfOthers) {
  EXPECT_EQ(scrub("/etc/passwd(1): error: identifier \"root\" is undefined\n"
                  "  root:x:0:0:root:/root:/bin/sh\n"
                  "  ^\n"
                  "\n"
                  "1 error detected in the compilation of \"kernel.cu\".\n"),
            "(a message about a file that is not yours is left out)\n"
            "\n"
            "1 error detected in the compilation of \"kernel.cu\".");
}

TEST(ScrubLog, SaysOnceThatMessagesInARowAreLeftOut) {
  EXPECT_EQ(
      scrub("/etc/a(1): error: one\n  x\n/etc/a(2): error: two\n  y\nkernel.cu(1): error: z\n"),
      "(a message about a file that is not yours is left out)\nkernel.cu(1): error: z");
}

TEST(ScrubLog, ShowsWhatAMacroBreaksInTheCompilersOwnHeader) {
  EXPECT_EQ(
      scrub("__nv_nvrtc_builtin_header.h(3684): error: expected a \")\"\n  double dmul(int 0);\n"),
      "__nv_nvrtc_builtin_header.h(3684): error: expected a \")\"");
}

TEST(ScrubLog, KeepsMessagesOfTheToolkitWithoutItsLinesAndFolders) {
  EXPECT_EQ(scrub("/opt/kit/include/cuda_fp16.h(12): error: no such type\n"
                  "            argument types are: (int)\n"
                  "  half secret line;\n"
                  "  ^\n"
                  "          detected during instantiation of \"f\" at line 3 of kernel.cu\n"
                  "/opt/kit/include/cccl/nv/target(7): note #1-D: see\n"
                  "  another line\n"),
            "cuda_fp16.h(12): error: no such type\n"
            "            argument types are: (int)\n"
            "          detected during instantiation of \"f\" at line 3 of kernel.cu\n"
            "nv/target(7): note #1-D: see");
}

TEST(ScrubLog, KeepsEveryLineOfTheUsersOwnFiles) {
  const std::string log =
      "kernel.cu(3): warning #47-D: incompatible redefinition of macro \"A\" (declared at line 2)\n"
      "  #define A 2\n"
      "          ^\n"
      "\n"
      "parts/tile.h(1): catastrophic error: cannot open source file \"dedispersion.h\"\n"
      "  #include \"dedispersion.h\"\n"
      "                           ^";
  EXPECT_EQ(scrub(log + std::string("\n\0", 2)), log);
}

TEST(ScrubLog, SaysThatALongLogIsCut) {
  std::string log;
  while (log.size() <= 2 * kMostLogBytes) {
    log += "kernel.cu(3): error: identifier \"x\" is undefined\n";
  }
  const std::string scrubbed = scrub(log);
  EXPECT_LT(scrubbed.size(), kMostLogBytes + 100);
  EXPECT_NE(scrubbed.find("undefined\n(the rest of the log, beyond 65536 bytes, is cut)"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::profiler
