// A small valid source: two variants of a scaled sum, one of them with a launch parameter.
#pragma once

#include "proto/assay.pb.h"

#include <google/protobuf/text_format.h>

#include <string>

namespace assay::tuning {

inline constexpr const char* kScaledSum = R"(
  name: "scaled_sum" summary: "out = alpha * a + b"
  files { name: "plain.cu" text: "plain" }
  files { name: "wide.cu" text: "wide" }
  axes { name: "n" default_value: 1000 min: 1 max: 1048576 }
  parameters { name: "block" values: ["64", "128", "256"] default_value: "128" }
  parameters { name: "unroll" values: ["true", "false"] }
  restrictions: "block * (2 if unroll else 1) <= 256"
  tensors { name: "a" dtype: "f32" role: "input" shape: "n" }
  tensors { name: "b" dtype: "i32" role: "input" shape: "n" fill { kind: "index" } }
  tensors { name: "out" dtype: "f32" role: "output" shape: "n"
            reference { variant: "plain" relative: 0.001 } }
  stages {
    name: "sum" kernel: "scaled_sum"
    arguments { tensor: "a" } arguments { tensor: "b" } arguments { tensor: "out" }
    arguments { dtype: "i32" value: "n" } arguments { dtype: "f32" value: "0.5" }
    grid: "(n + block - 1) // block" block: "block"
  }
  variants { name: "plain" }
  variants {
    name: "wide" file: "wide.cu" family: "own" has_no_parameters: true defines: "WIDE=4"
    stages {
      name: "sum" kernel: "wide_sum<4>"
      arguments { tensor: "out" } arguments { tensor: "a" } arguments { tensor: "b" }
      grid: "n // 1024 + 1" block: "256" shared_bytes: "4 * 256"
    }
  }
  defines: "SCALE" options: "--fmad=false")";

inline v1::SourceSpec source_of(const std::string& text) {
  v1::SourceSpec spec;
  if (!google::protobuf::TextFormat::ParseFromString(text, &spec)) {
    spec.set_name("no text format");
  }
  return spec;
}

inline v1::SourceSpec scaled_sum() {
  return source_of(kScaledSum);
}

}  // namespace assay::tuning
