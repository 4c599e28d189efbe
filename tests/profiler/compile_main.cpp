// main() of tests that compile source: the compiler is the test's own program once more.
#include "profiler/compile_worker.h"

#include <gtest/gtest.h>

#include <string_view>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == assay::profiler::kCompileMode) {
    return assay::profiler::run_compile_worker(STDIN_FILENO, STDOUT_FILENO);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
