// The bytes of the inputs: a value depends on the seed, the stream's number, the head, the absolute
// position and the kind of data only; planted keys also on the stream's length and the window. So a
// stream has the same values alone, in any order, in any buffer, and a block key keeps its value
// when it is part of the context.
#pragma once

#include "kernels/block_attention/plan.h"

#include <cstdint>
#include <span>

namespace assay::kernels::block_attention {

enum class Part : std::uint8_t { kQuery, kKey, kValue };

// bf16 of one row of a head: the query, key or value at a position of a stream.
void fill_row(const BlockPlan& plan,
              Part part,
              const Stream& stream,
              std::int32_t head,
              std::int64_t position,
              std::span<std::uint16_t> row);

// What lies where no row looks; `first` is the place in the buffer.
void fill_unread(const BlockPlan& plan, std::int64_t first, std::span<std::uint16_t> elements);

}  // namespace assay::kernels::block_attention
