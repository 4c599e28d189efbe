#include "tests/profiler/source_gpu.h"

#include "absl/strings/str_replace.h"
#include <gtest/gtest.h>

#include <string>

namespace assay::profiler {
namespace {

// A stencil in one direction, without a margin around its input.
constexpr const char* kStencil = R"pb(
  name: "stencil"
  axes { name: "height" default_value: 64 min: 2 max: 4096 }
  axes { name: "width" default_value: 33 min: 1 max: 4096 }
  tensors {
    name: "temp"
    dtype: "f32"
    role: "input"
    shape: [ "height", "width" ]
    fill { kind: "uniform" low: 1 high: 2 }
  }
  tensors {
    name: "out"
    dtype: "f32"
    role: "output"
    shape: [ "height", "width" ]
  }
  stages {
    name: "add"
    kernel: "stencil"
    arguments { tensor: "temp" }
    arguments { tensor: "out" }
    arguments { dtype: "i32" value: "width" }
    arguments { dtype: "i32" value: "height * width" }
    grid: "(height * width + 255) // 256"
    block: "256"
  }
)pb";

constexpr const char* kStencilText = R"(
extern "C" __global__ void stencil(const float* temp, float* out, int width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = temp[i] + NEIGHBOUR;
  }
}
)";

// Four elements a thread from 16 aligned bytes, of which the last thread has two.
constexpr const char* kCopy = R"pb(
  name: "copy"
  tensors { name: "x" dtype: "f32" role: "input" shape: "1022" }
  tensors { name: "out" dtype: "f32" role: "output" shape: "1022" }
  stages {
    name: "copy"
    kernel: "copy"
    arguments { tensor: "x" }
    arguments { tensor: "out" }
    arguments { dtype: "i32" value: "1022" }
    grid: "1"
    block: "256"
  }
)pb";

constexpr const char* kCopyText = R"(
extern "C" __global__ void copy(const float* x, float* out, int n) {
  __shared__ alignas(16) float staged[1024];
  const int begin = 4 * threadIdx.x;
  LOAD
  __syncthreads();
  for (int i = begin; i < begin + 4 && i < n; ++i) {
    out[i] = staged[i];
  }
}
)";

constexpr const char* kVectorLoad =
    "*reinterpret_cast<float4*>(staged + begin) = *reinterpret_cast<const float4*>(x + begin);";
constexpr const char* kAsynchronousLoad = R"(
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.wait_all;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(staged + begin))),
               "l"(x + begin)
               : "memory");
#else
  *reinterpret_cast<float4*>(staged + begin) = *reinterpret_cast<const float4*>(x + begin);
#endif
)";

class OutsideReadsGpuTest : public SourceGpuTest {
 protected:
  v1::BitsReport stencil_of(const std::string& neighbour) {
    return bits_of(kStencil, absl::StrReplaceAll(kStencilText, {{"NEIGHBOUR", neighbour}}));
  }

  v1::BitsReport bits_of(const std::string& description, const std::string& text) {
    return baseline_of(define(spec_of(description, text)), "source").bits();
  }
};

TEST_F(OutsideReadsGpuTest, NamesARowPastTheEnd) {
  const v1::BitsReport bits = stencil_of("temp[i + width]");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 33 elements past the end of `temp`: with other bytes there "
                               "33 of 2,112 elements of `out` differ, first out[63, 0]: "),
            0U)
      << bits.detail();
  EXPECT_EQ(bits.drift().num_differing(), 33);
}

TEST_F(OutsideReadsGpuTest, NamesARowBeforeTheStart) {
  const v1::BitsReport bits = stencil_of("temp[i - width]");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 33 elements before the start of `temp`: "), 0U)
      << bits.detail();
}

TEST_F(OutsideReadsGpuTest, FindsARowThatIsMultipliedByZero) {
  const v1::BitsReport bits = stencil_of("(i + width < n ? 1.0f : 0.0f) * temp[i + width]");
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("reads 33 elements past the end of `temp`: "), 0U) << bits.detail();
}

TEST_F(OutsideReadsGpuTest, PassesARowThatIsReadAndLeftOut) {
  const v1::BitsReport bits = stencil_of(
      "[&] {"
      "  const float below = reinterpret_cast<const volatile float*>(temp)[i + width];"
      "  return i + width < n ? below : 0.0f;"
      "}()");
  EXPECT_EQ(bits.failed(), v1::BITS_CHECK_UNSPECIFIED) << bits.detail();
}

TEST_F(OutsideReadsGpuTest, PassesWideLoadsWhoseEndIsNotUsed) {
  for (const char* const load : {kVectorLoad, kAsynchronousLoad}) {
    const v1::BitsReport bits = bits_of(kCopy, absl::StrReplaceAll(kCopyText, {{"LOAD", load}}));
    EXPECT_EQ(bits.failed(), v1::BITS_CHECK_UNSPECIFIED) << load << ": " << bits.detail();
  }
}

}  // namespace
}  // namespace assay::profiler
