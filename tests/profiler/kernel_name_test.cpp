#include "profiler/kernel_name.h"

#include <gtest/gtest.h>

namespace assay::profiler {
namespace {

TEST(KernelName, LeavesOutNamespacesArgumentsAndParameters) {
  EXPECT_EQ(short_kernel_name("_Z5plainPfi"), "plain");
  EXPECT_EQ(short_kernel_name("_ZN5assay8profiler12flush_kernelEP5uint4mm"), "flush_kernel");
  // void assay::(anonymous namespace)::mix<4, int>(int*)
  EXPECT_EQ(short_kernel_name("_ZN5assay12_GLOBAL__N_13mixILi4EiEEvPT0_"), "mix");
}

TEST(KernelName, LeavesOtherNamesAlone) {
  EXPECT_EQ(short_kernel_name("row_fill_kernel"), "row_fill_kernel");
  EXPECT_EQ(short_kernel_name(""), "");
}

TEST(KernelName, IsWholeWhereItIsAskedFor) {
  EXPECT_EQ(whole_kernel_name("_Z5plainPfi"), "plain(float*, int)");
  EXPECT_EQ(whole_kernel_name("row_fill_kernel"), "row_fill_kernel");
}

}  // namespace
}  // namespace assay::profiler
