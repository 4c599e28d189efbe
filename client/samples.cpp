#include "client/samples.h"

#include <algorithm>
#include <numeric>

namespace assay::client {

std::vector<BlockSamples> blocks_of(const v1::Measurement& measurement) {
  std::vector<BlockSamples> blocks;
  std::size_t first = 0;
  for (const v1::Block& block : measurement.blocks()) {
    const std::size_t end = first + block.num_calls() / std::max(block.calls_per_sample(), 1U);
    blocks.push_back({&block, first, end});
    first = end;
  }
  return blocks;
}

const v1::StageSamples* find_stage(const v1::Measurement& measurement, std::string_view name) {
  for (const v1::StageSamples& stage : measurement.stages()) {
    if (stage.stage() == name) {
      return &stage;
    }
  }
  return nullptr;
}

std::vector<std::int64_t> samples_of(const v1::StageSamples* stage, const BlockSamples& place) {
  std::vector<std::int64_t> samples;
  if (stage != nullptr) {
    const auto size = static_cast<std::size_t>(stage->samples_ns_size());
    for (std::size_t i = place.first; i < std::min(size, place.end); ++i) {
      samples.push_back(stage->samples_ns(static_cast<int>(i)));
    }
  }
  return samples;
}

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : std::midpoint(values[half - 1], values[half]);
}

}  // namespace assay::client
