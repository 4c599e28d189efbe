// What the 32 lanes of a warp do together on the SIMT machine.
#pragma once

#include "tests/kernels/simt/block.h"

#include <cstddef>
#include <cstdint>

namespace assay::simt {

enum class Op { kNone, kSyncWarp, kWaitForSteps, kShuffle, kLoadMatrices, kMultiplyAdd };

// What a lane brings to a collective and where it takes the result; in the lane's own frame.
struct Request {
  Op op = Op::kNone;
  bool is_transposed = false;
  int source = 0;  // lane, of the value
  std::uint32_t value = 0;
  float* c = nullptr;
  const std::uint32_t* a = nullptr;
  std::uint32_t b[2] = {};
  const std::byte* row = nullptr;
  std::uint32_t* matrices = nullptr;
};

using WarpRequests = Request* [kWarpLanes];

// All lanes have brought the same operation.
void carry_out_collective(const WarpRequests& lanes, Step step);

}  // namespace assay::simt
