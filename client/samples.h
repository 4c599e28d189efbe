// Samples of a measurement and the blocks that they belong to.
#pragma once

#include "proto/assay.pb.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::client {

// A block and the places of its samples in every stage, [first, end).
struct BlockSamples {
  const v1::Block* block = nullptr;
  std::size_t first = 0;
  std::size_t end = 0;
};

std::vector<BlockSamples> blocks_of(const v1::Measurement& measurement);

// None when the measurement has no such stage.
const v1::StageSamples* find_stage(const v1::Measurement& measurement, std::string_view name);

// Those that are stored; none without a stage.
std::vector<std::int64_t> samples_of(const v1::StageSamples* stage, const BlockSamples& place);

// 0 of none.
std::int64_t median_of(std::vector<std::int64_t> values);

}  // namespace assay::client
