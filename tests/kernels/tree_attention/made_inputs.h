// The inputs of a workload as typed tables.
#pragma once

#include "kernels/tree_attention/problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace assay::kernels::tree_attention {

inline Workload workload_with(const std::vector<Setting>& given, std::uint64_t seed = 0) {
  return {.axes = complete_settings(axes(), given).value(), .seed = seed};
}

inline std::unique_ptr<Problem> problem_with(const std::vector<Setting>& given,
                                             std::uint64_t seed = 0) {
  return make_problem(workload_with(given, seed));
}

inline const Shape& shape_of(const Problem& problem) {
  return static_cast<const TreeProblem&>(problem).shape();
}

template <class Value>
std::vector<Value> input_of(const Problem& problem, Tensor tensor) {
  std::vector<Value> values(static_cast<std::size_t>(num_elements(problem.tensors()[tensor])));
  problem.fill_input(tensor, reinterpret_cast<std::byte*>(values.data()));
  return values;
}

}  // namespace assay::kernels::tree_attention
