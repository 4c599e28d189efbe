// Workloads and the input bytes of block_attention, for tests that look at them.
#pragma once

#include "kernels/attention/softmax.h"
#include "kernels/block_attention/contract.h"
#include "kernels/block_attention/problem.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace assay::kernels::block_attention {

inline Workload workload_of(const std::vector<Setting>& given, std::uint64_t seed = 0) {
  return {.axes = complete_settings(axes(), given).value(), .seed = seed};
}

struct Inputs {
  std::unique_ptr<Problem> problem;
  std::vector<std::vector<std::byte>> bytes;  // of the inputs

  const Shape& shape() const { return static_cast<const BlockProblem&>(*problem).shape(); }

  template <class Value>
  Value at(Tensor tensor, std::int64_t index) const {
    Value value;
    std::memcpy(&value,
                bytes[tensor].data() + static_cast<std::size_t>(index) * sizeof(Value),
                sizeof(Value));
    return value;
  }

  float half(Tensor tensor, std::int64_t index) const {
    return attention::from_bf16(at<std::uint16_t>(tensor, index));
  }

  std::int64_t context(std::int64_t stream) const { return at<std::int32_t>(kLengths, stream); }

  // As a kernel finds it: the context through the table, then the block.
  float key(std::int64_t stream, std::int64_t head, std::int64_t position, std::int64_t d) const {
    return row_value(kKBlock, kKContext, 0, stream, head, position, d);
  }

  float value(std::int64_t stream, std::int64_t head, std::int64_t position, std::int64_t d) const {
    return row_value(kVBlock, kVContext, 1, stream, head, position, d);
  }

  float query(std::int64_t stream, std::int64_t head, std::int64_t row, std::int64_t d) const {
    return half(kQ, ((head * shape().num_rows()) + stream * shape().width + row) * shape().dim + d);
  }

 private:
  float row_value(Tensor block,
                  Tensor in_context,
                  std::int64_t column,
                  std::int64_t stream,
                  std::int64_t head,
                  std::int64_t position,
                  std::int64_t d) const {
    const std::int64_t n = context(stream);
    if (position >= n) {
      const std::int64_t row = stream * shape().width + position - n;
      return half(block, (head * shape().num_rows() + row) * shape().dim + d);
    }
    const auto offset = at<std::int64_t>(kTable, stream * 3 + column);
    const auto stride = at<std::int64_t>(kTable, stream * 3 + 2);
    return half(in_context, offset + head * stride + position * shape().dim + d);
  }
};

inline Inputs make_inputs(const Workload& workload) {
  Inputs inputs = {.problem = make_problem(workload), .bytes = {}};
  for (std::size_t tensor = 0; tensor < kOut; ++tensor) {
    const TensorSpec& spec = inputs.problem->tensors()[tensor];
    auto& bytes = inputs.bytes.emplace_back(static_cast<std::size_t>(num_bytes(spec)));
    inputs.problem->fill_input(tensor, bytes.data());
  }
  return inputs;
}

}  // namespace assay::kernels::block_attention
