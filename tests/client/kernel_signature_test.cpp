#include "client/kernel_signature.h"

#include <gtest/gtest.h>

#include <string>

namespace assay::client {
namespace {

// "f32* ? i32": a type of its own is a question mark.
std::string signature(const std::string& source) {
  const auto parameters = kernel_signature(source, "add");
  if (!parameters) {
    return "unknown";
  }
  std::string text;
  for (const KernelParameter& parameter : *parameters) {
    text += (text.empty() ? "" : " ") + (parameter.dtype.empty() ? "?" : parameter.dtype) +
            (parameter.is_pointer ? "*" : "");
  }
  return text;
}

TEST(KernelSignature, IsUnknownUnlessOneDefinitionStandsInTheOpen) {
  EXPECT_EQ(signature(""), "unknown");
  EXPECT_EQ(signature("void add(int n) {}"), "unknown");
  EXPECT_EQ(signature("__global__ void add2(int n) {}"), "unknown");
  EXPECT_EQ(signature("// __global__ void add(int n) {}"), "unknown");
  EXPECT_EQ(signature("/* __global__ void */ void add(int n) {}"), "unknown");
  EXPECT_EQ(signature("__global__ void a() {} void f() { add(3); }"), "unknown");
  EXPECT_EQ(signature("__global__ void add(int a) {}\n__global__ void add(float a) {}"), "unknown");
  EXPECT_EQ(signature("__global__ void add(\n#ifdef A\nint a\n#endif\n) {}"), "unknown");
  EXPECT_EQ(signature("__global__ void add(int a"), "unknown");
}

TEST(KernelSignature, KnowsTheTypesOfParameters) {
  EXPECT_EQ(signature("__global__ void add() {}"), "");
  EXPECT_EQ(signature("extern \"C\" __global__ void\nadd(const float *__restrict__ a, float4* b, "
                      "unsigned char const* c, unsigned n) { add(a); }"),
            "f32* ?* u8* i32");
  EXPECT_EQ(signature("__global__ void __launch_bounds__(256) add(Pair<int, float> p, float** q)"),
            "? ?*");
}

}  // namespace
}  // namespace assay::client
