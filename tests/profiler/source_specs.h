// Small sources for tests: what a person would bring, right and wrong.
#pragma once

#include "proto/assay.pb.h"

#include <google/protobuf/text_format.h>

#include <string>

namespace assay::profiler {

// out = a + b. The variant `swapped` passes its arguments in another order than the kernel takes
// them, `half` writes the first half, `late` also writes one element behind the end.
inline constexpr const char* kVectorAdd = R"pb(
  name: "vector_add"
  axes { name: "n" default_value: 1024 min: 2 max: 1048576 }
  parameters {
    name: "block"
    values: [ "128", "256" ]
  }
  restrictions: "n % block == 0 or block == 128"
  tensors { name: "a" dtype: "f32" role: "input" shape: "n" }
  tensors {
    name: "b"
    dtype: "f32"
    role: "input"
    shape: "n"
    fill { kind: "uniform" low: -1 high: 1 }
  }
  tensors { name: "out" dtype: "f32" role: "output" shape: "n" }
  stages {
    name: "add"
    kernel: "vector_add"
    arguments { tensor: "out" }
    arguments { tensor: "a" }
    arguments { tensor: "b" }
    arguments { dtype: "i32" value: "n" }
    grid: "(n + block - 1) // block"
    block: "block"
  }
  variants { name: "plain" }
  variants {
    name: "swapped"
    stages {
      name: "add"
      kernel: "vector_add"
      arguments { tensor: "a" }
      arguments { tensor: "b" }
      arguments { tensor: "out" }
      arguments { dtype: "i32" value: "n" }
      grid: "(n + block - 1) // block"
      block: "block"
    }
  }
  variants {
    name: "half"
    stages {
      name: "add"
      kernel: "vector_add"
      arguments { tensor: "out" }
      arguments { tensor: "a" }
      arguments { tensor: "b" }
      arguments { dtype: "i32" value: "n // 2" }
      grid: "(n + block - 1) // block"
      block: "block"
    }
  }
  variants {
    name: "late"
    stages {
      name: "add"
      kernel: "vector_add"
      arguments { tensor: "out" }
      arguments { tensor: "a" }
      arguments { tensor: "b" }
      arguments { dtype: "i32" value: "n + 1" }
      grid: "n // block + 1"
      block: "block"
    }
  }
)pb";

inline constexpr const char* kVectorAddText = R"(
extern "C" __global__ void vector_add(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = a[i] + b[i];
  }
}
)";

// x *= 1.0001, in place.
inline constexpr const char* kScale = R"pb(
  name: "scale"
  axes { name: "n" default_value: 1000 min: 1 max: 1048576 }
  tensors { name: "x" dtype: "f32" role: "in_out" shape: "n" }
  stages {
    name: "scale"
    kernel: "scale<float>"
    arguments { tensor: "x" }
    arguments { dtype: "f32" value: "1.0001" }
    arguments { dtype: "i32" value: "n" }
    grid: "(n + 255) // 256"
    block: "256"
  }
)pb";

inline constexpr const char* kScaleText = R"(
template <class T>
__global__ void scale(T* x, T by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= by;
  }
}
)";

// The sum of each row, in two stages with partial sums in scratch; of the last, odd chunk only what
// there is. `drops` forgets the last chunk.
inline constexpr const char* kRowSum = R"pb(
  name: "row_sum"
  axes { name: "rows" default_value: 5 min: 1 max: 1024 }
  axes { name: "width" default_value: 65 min: 1 max: 65536 }
  tensors {
    name: "x"
    dtype: "i32"
    role: "input"
    shape: [ "rows", "width" ]
    fill { kind: "uniform" low: -9 high: 9 }
  }
  tensors {
    name: "sum"
    dtype: "i32"
    role: "output"
    shape: "rows"
    reference { variant: "plain" }
  }
  tensors {
    name: "partial"
    dtype: "i32"
    role: "scratch"
    shape: [ "rows", "65536 // 64" ]
  }
  stages {
    name: "chunk"
    kernel: "chunk_sums"
    arguments { tensor: "x" }
    arguments { tensor: "partial" }
    arguments { dtype: "i32" value: "width" }
    grid: [ "(width + 63) // 64", "rows" ]
    block: "1"
  }
  stages {
    name: "merge"
    kernel: "merge_sums"
    arguments { tensor: "partial" }
    arguments { tensor: "sum" }
    arguments { dtype: "i32" value: "(width + 63) // 64" }
    grid: "rows"
    block: "1"
  }
  variants { name: "plain" }
  variants {
    name: "drops"
    family: "other"
    stages {
      name: "chunk"
      kernel: "chunk_sums"
      arguments { tensor: "x" }
      arguments { tensor: "partial" }
      arguments { dtype: "i32" value: "width" }
      grid: [ "(width + 63) // 64", "rows" ]
      block: "1"
    }
    stages {
      name: "merge"
      kernel: "merge_sums"
      arguments { tensor: "partial" }
      arguments { tensor: "sum" }
      arguments { dtype: "i32" value: "width // 64" }
      grid: "rows"
      block: "1"
    }
  }
)pb";

inline constexpr const char* kRowSumText = R"(
extern "C" __global__ void chunk_sums(const int* x, int* partial, int width) {
  int sum = 0;
  for (int i = 64 * blockIdx.x; i < width && i < 64 * (blockIdx.x + 1); ++i) {
    sum += x[blockIdx.y * width + i];
  }
  partial[blockIdx.y * 1024 + blockIdx.x] = sum;
}
extern "C" __global__ void merge_sums(const int* partial, int* sum, int num_chunks) {
  int total = 0;
  for (int i = 0; i < num_chunks; ++i) {
    total += partial[blockIdx.x * 1024 + i];
  }
  sum[blockIdx.x] = total;
}
)";

inline v1::SourceSpec spec_of(const std::string& description, const std::string& text) {
  v1::SourceSpec spec;
  if (!google::protobuf::TextFormat::ParseFromString(description, &spec)) {
    spec.set_name("no text format");
  }
  v1::SourceFile& file = *spec.add_files();
  file.set_name("kernel.cu");
  file.set_text(text);
  return spec;
}

inline v1::RunnerOpen open_request(const std::string& name,
                                   const std::string& baseline,
                                   const std::string& candidate = "") {
  v1::RunnerOpen request;
  request.set_operator_name(name);
  request.mutable_baseline()->set_variant(baseline);
  if (!candidate.empty()) {
    request.mutable_candidate()->set_variant(candidate);
  }
  request.set_num_calls(3);
  return request;
}

}  // namespace assay::profiler
