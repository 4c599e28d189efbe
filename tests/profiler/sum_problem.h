// A problem for kernels that a test brings along: out = x + index over five rows.
#pragma once

#include "kernels/operator.h"
#include "profiler/arm_plan.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

namespace assay::profiler {

inline constexpr std::int64_t kSumWidth = 20;
inline constexpr std::int64_t kSumElements = 5 * kSumWidth;

struct SumTensors {
  const float* x;
  const std::int32_t* index;
  float* out;
};

using SumLaunch = std::function<void(const SumTensors&)>;

class SumProblem : public kernels::Problem {
 public:
  std::span<const kernels::TensorSpec> tensors() const override { return tensors_; }

  // Positive numbers.
  void fill_input(std::size_t tensor, std::byte* bytes) const override {
    for (std::int32_t place = 0; place < kSumElements; ++place) {
      const std::int32_t whole = place % 7 + 1;
      const float half = 0.5F * static_cast<float>(place + 1);
      std::memcpy(bytes + std::ptrdiff_t{4} * place,
                  tensor == 0 ? static_cast<const void*>(&half) : &whole,
                  sizeof whole);
    }
  }

  std::vector<kernels::ElementRange> live(std::size_t /*tensor*/) const override {
    return {{.begin = 0, .end = kSumElements}};
  }

  kernels::Reference reference(std::size_t /*tensor*/) const override { return {}; }

  std::int64_t min_bytes() const override { return 3 * 4 * kSumElements; }

  std::int64_t min_flops() const override { return kSumElements; }

 private:
  static kernels::TensorSpec tensor(const char* name, kernels::DType dtype, kernels::Role role) {
    return {.name = name,
            .dtype = dtype,
            .role = role,
            .shape = {kSumElements / kSumWidth, kSumWidth},
            .content_key = name};
  }

  std::vector<kernels::TensorSpec> tensors_ = {
      tensor("x", kernels::DType::kF32, kernels::Role::kInput),
      tensor("index", kernels::DType::kI32, kernels::Role::kInput),
      tensor("out", kernels::DType::kF32, kernels::Role::kOutput)};
};

// As it should be.
inline void add_rows(const SumTensors& tensors) {
  for (std::int64_t place = 0; place < kSumElements; ++place) {
    tensors.out[place] = tensors.x[place] + static_cast<float>(tensors.index[place]);
  }
}

inline ArmPlan sum_arm(SumLaunch launch) {
  ArmPlan arm;
  StagePlan& stage = arm.stages.emplace_back();
  stage.name = "add";
  stage.launch = [launch = std::move(launch)](const kernels::Call& call) {
    launch({.x = static_cast<const float*>(call.tensors[0]),
            .index = static_cast<const std::int32_t*>(call.tensors[1]),
            .out = static_cast<float*>(call.tensors[2])});
    return absl::OkStatus();
  };
  return arm;
}

}  // namespace assay::profiler
