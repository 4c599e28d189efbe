#include "tests/profiler/source_gpu.h"

#include "profiler/failure_class.h"
#include "profiler/source_operator.h"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

namespace assay::profiler {
namespace {

TEST_F(SourceGpuTest, AddsVectorsAndTimesThem) {
  const std::string name = define(spec_of(kVectorAdd, kVectorAddText));
  for (const v1::LaunchMode mode : {v1::STREAM, v1::GRAPH}) {
    v1::RunnerOpen request = open_request(name, "plain", "plain");
    request.mutable_candidate()->add_parameters()->set_name("block");
    request.mutable_candidate()->mutable_parameters(0)->set_value("256");
    request.set_launch_mode(mode);
    const auto opened = open(request);
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (const v1::Measurement& arm : {opened->baseline(), opened->candidate()}) {
      EXPECT_EQ(arm.bits().failed(), v1::BITS_CHECK_UNSPECIFIED) << arm.bits().detail();
      ASSERT_EQ(arm.resources_size(), 1);
      EXPECT_GT(arm.resources(0).num_registers(), 0U);
      EXPECT_GT(arm.resources(0).occupancy(), 0);
      EXPECT_EQ(arm.resources(0).machine_code().size(), 32U);
      EXPECT_EQ(arm.traced(0), "vector_add");
    }
    EXPECT_EQ(opened->candidate().resources(0).num_threads(), 256U);
    const v1::RunnerClosed closed = time_and_close();
    EXPECT_FALSE(closed.baseline().has_bits()) << closed.ShortDebugString();
  }
}

TEST_F(SourceGpuTest, ReportsArgumentsInTheWrongOrder) {
  const v1::BitsReport bits =
      baseline_of(define(spec_of(kVectorAdd, kVectorAddText)), "swapped").bits();
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail(),
            "1,024 of 1,024 elements of `out` not written, first out[0]; input `a` was changed");
}

TEST_F(SourceGpuTest, ReportsAnInputThatAKernelChanges) {
  const v1::BitsReport bits = baseline_of(define(spec_of(kVectorAdd, R"(
extern "C" __global__ void vector_add(float* out, float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = b[i];
    a[i] = 1;
  }
}
)")),
                                          "plain")
                                  .bits();
  EXPECT_EQ(bits.failed(), v1::BITS_INPUTS);
  EXPECT_EQ(bits.detail(), "input `a` was changed");
}

TEST_F(SourceGpuTest, ReportsWhatIsNotWrittenAndWhatIsWrittenBehindTheEnd) {
  const std::string name = define(spec_of(kVectorAdd, kVectorAddText));
  v1::BitsReport bits = baseline_of(name, "half").bits();
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_EQ(bits.detail().find("512 of 1,024 elements of `out` not written"), 0U) << bits.detail();
  bits = baseline_of(name, "late").bits();
  EXPECT_EQ(bits.failed(), v1::BITS_WRITTEN);
  EXPECT_NE(bits.detail().find("of `out`"), std::string::npos) << bits.detail();
}

TEST_F(SourceGpuTest, StartsEveryInPlaceCallFromTheSameBytes) {
  const std::string name = define(spec_of(kScale, kScaleText));
  std::string digest;
  for (const std::uint32_t num_calls : {1U, 100U}) {
    v1::RunnerOpen request = open_request(name, "source");
    request.set_num_calls(num_calls);
    const auto opened = open(request);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
        << opened->baseline().bits().detail();
    const std::string found = opened->baseline().outputs(0).digest();
    EXPECT_TRUE(digest.empty() || digest == found);
    digest = found;
    EXPECT_FALSE(time_and_close().baseline().has_bits());
  }
}

TEST_F(SourceGpuTest, FindsThatAtomicSumsDoNotRepeatTheirBits) {
  const v1::BitsReport bits =
      baseline_of(define(spec_of(R"pb(
                                   name: "atomic_sum"
                                   axes { name: "n" default_value: 1000000 min: 1 max: 16777216 }
                                   tensors { name: "x" dtype: "f32" role: "input" shape: "n" }
                                   tensors {
                                     name: "sum"
                                     dtype: "f32"
                                     role: "in_out"
                                     shape: "64"
                                     fill { kind: "constant" }
                                   }
                                   stages {
                                     name: "sum"
                                     kernel: "atomic_sum"
                                     arguments { tensor: "x" }
                                     arguments { tensor: "sum" }
                                     arguments { dtype: "i32" value: "n" }
                                     grid: "(n + 255) // 256"
                                     block: "256"
                                   }
                                 )pb",
                                 R"(
extern "C" __global__ void atomic_sum(const float* x, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    atomicAdd(&sum[i % 64], x[i]);
  }
}
)")),
                  "source")
          .bits();
  EXPECT_EQ(bits.failed(), v1::BITS_REPEATABLE) << bits.detail();
  EXPECT_GT(bits.num_digests(), 1U);
}

TEST_F(SourceGpuTest, FindsThatContractionChangesBits) {
  const std::string name =
      define(spec_of(R"pb(
                       name: "mad"
                       axes { name: "n" default_value: 4096 min: 1 max: 1048576 }
                       tensors { name: "a" dtype: "f32" role: "input" shape: "n" }
                       tensors { name: "b" dtype: "f32" role: "input" shape: "n" }
                       tensors { name: "c" dtype: "f32" role: "input" shape: "n" }
                       tensors { name: "out" dtype: "f32" role: "output" shape: "n" }
                       stages {
                         name: "mad"
                         kernel: "mad"
                         arguments { tensor: "a" }
                         arguments { tensor: "b" }
                         arguments { tensor: "c" }
                         arguments { tensor: "out" }
                         grid: "n // 256"
                         block: "256"
                       }
                       variants { name: "separate" options: "--fmad=false" }
                       variants { name: "contracted" options: "--fmad=true" }
                     )pb",
                     R"(
extern "C" __global__ void mad(const float* a, const float* b, const float* c, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = a[i] * b[i] + c[i];
}
)"));
  const auto opened = open(open_request(name, "separate", "contracted"));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_EQ(opened->candidate().bits().failed(), v1::BITS_EQUAL);
  EXPECT_NE(opened->baseline().code_digest(), opened->candidate().code_digest());
}

TEST_F(SourceGpuTest, CarriesTwoStagesWithScratch) {
  const std::string name = define(spec_of(kRowSum, kRowSumText));
  for (const char* const width : {"1", "63", "64", "65", "2051"}) {
    v1::RunnerOpen request = open_request(name, "plain");
    v1::Setting& axis = *request.mutable_workload()->add_axes();
    axis.set_name("width");
    axis.set_value(width);
    const auto opened = open(request);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED)
        << width << ": " << opened->baseline().bits().detail();
    EXPECT_EQ(opened->baseline().resources_size(), 2);
    EXPECT_FALSE(time_and_close().baseline().has_bits());
  }
}

// One kernel with as much shared memory as the parameter says.
v1::SourceSpec shared_memory_spec(int num_values) {
  v1::SourceSpec spec = spec_of(R"pb(
                                  name: "staged_copy"
                                  tensors { name: "x" dtype: "f32" role: "input" shape: "256" }
                                  tensors { name: "out" dtype: "f32" role: "output" shape: "256" }
                                  stages {
                                    name: "copy"
                                    kernel: "staged_copy"
                                    arguments { tensor: "x" }
                                    arguments { tensor: "out" }
                                    grid: "1"
                                    block: "256"
                                    shared_bytes: "kib * 1024"
                                  }
                                )pb",
                                R"(
extern "C" __global__ void staged_copy(const float* x, float* out) {
  extern __shared__ float staged[];
  staged[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = staged[255 - threadIdx.x] + kib;
}
)");
  v1::SourceParameter& kib = *spec.add_parameters();
  kib.set_name("kib");
  for (int value = 1; value <= num_values; ++value) {
    kib.add_values(std::to_string(4 * value));
  }
  return spec;
}

v1::RunnerOpen with_kib(const std::string& name, int kib) {
  v1::RunnerOpen request = open_request(name, "source");
  v1::Setting& setting = *request.mutable_baseline()->add_parameters();
  setting.set_name("kib");
  setting.set_value(std::to_string(kib));
  return request;
}

TEST_F(SourceGpuTest, RefusesMoreSharedMemoryThanTheDeviceHas) {
  const std::string name = define(shared_memory_spec(200));
  const auto refused = open(with_kib(name, 800));
  EXPECT_TRUE(is_refused(refused.status()));
  EXPECT_EQ(failure_of(refused.status()), v1::RESOURCES);
  EXPECT_NE(std::string(refused.status().message()).find("819200 bytes of shared memory"),
            std::string::npos)
      << refused.status();
  // More than without asking.
  const auto opened = open(with_kib(name, 64));
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(opened->baseline().bits().failed(), v1::BITS_CHECK_UNSPECIFIED);
  EXPECT_EQ(opened->baseline().resources(0).dynamic_shared_bytes(), 65536);
}

TEST_F(SourceGpuTest, LeavesNoMemoryBehindAfterManyConfigurations) {
  int most_shared_bytes = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&most_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0),
            cudaSuccess);
  const int num_values = 2 * (most_shared_bytes / 4096);
  const std::string name = define(shared_memory_spec(num_values));
  const auto free_bytes = [] {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return static_cast<std::int64_t>(free);
  };
  ASSERT_TRUE(open(with_kib(name, 4)).ok());
  const std::int64_t before = free_bytes();
  int num_refused = 0;
  for (int round = 0; round < 2; ++round) {
    for (int value = 1; value <= num_values; ++value) {
      const auto opened = open(with_kib(name, 4 * value));
      num_refused += is_refused(opened.status()) ? 1 : 0;
      EXPECT_TRUE(opened.ok() || failure_of(opened.status()) == v1::RESOURCES) << opened.status();
    }
  }
  EXPECT_GT(num_refused, num_values / 2);
  EXPECT_LT(num_refused, 3 * num_values / 2);
  ASSERT_TRUE(open(with_kib(name, 4)).ok());
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  EXPECT_LT(before - free_bytes(), 4 * kMebibyte);
}

TEST_F(SourceGpuTest, CallsAMemoryFaultTheDevicesError) {
  const auto opened = open(open_request(define(spec_of(kVectorAdd, R"(
extern "C" __global__ void vector_add(float* out, const float* a, const float* b, int n) {
  out[1ULL << 44] = a[0] + b[0] + n;
}
)")),
                                        "plain"));
  EXPECT_FALSE(opened.ok());
  EXPECT_FALSE(is_refused(opened.status()));
  EXPECT_NE(std::string(opened.status().message()).find("cudaErrorIllegalAddress"),
            std::string::npos)
      << opened.status();
}

}  // namespace
}  // namespace assay::profiler
