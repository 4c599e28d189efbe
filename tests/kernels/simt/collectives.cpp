#include "tests/kernels/simt/collectives.h"

#include <cstring>

namespace assay::simt {
namespace {

std::uint16_t half_of(std::uint32_t pair, int i) {
  return static_cast<std::uint16_t>(i == 0 ? pair & 0xFFFFU : pair >> 16);
}

void shuffle(const WarpRequests& lanes) {
  std::uint32_t values[kWarpLanes];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    values[lane] = lanes[lane]->value;
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    lanes[lane]->value = values[lanes[lane]->source];
  }
}

void load_matrices(const WarpRequests& lanes) {
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint16_t cells[8][8];
    for (int row = 0; row < 8; ++row) {
      std::memcpy(cells[row], lanes[matrix * 8 + row]->row, sizeof(cells[row]));
    }
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      const int row = lane / 4;
      const int column = lane % 4 * 2;
      const bool turned = lanes[lane]->is_transposed;
      const std::uint32_t low = turned ? cells[column][row] : cells[row][column];
      const std::uint32_t high = turned ? cells[column + 1][row] : cells[row][column + 1];
      lanes[lane]->matrices[matrix] = low | high << 16;
    }
  }
}

void multiply_add(const WarpRequests& lanes, Step step) {
  std::uint16_t a[16][16];
  std::uint16_t b[8][16];
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    const int row = lane / 4;
    const int column = lane % 4 * 2;
    for (int i = 0; i < 2; ++i) {
      a[row][column + i] = half_of(lanes[lane]->a[0], i);
      a[row + 8][column + i] = half_of(lanes[lane]->a[1], i);
      a[row][column + 8 + i] = half_of(lanes[lane]->a[2], i);
      a[row + 8][column + 8 + i] = half_of(lanes[lane]->a[3], i);
      b[row][column + i] = half_of(lanes[lane]->b[0], i);
      b[row][column + 8 + i] = half_of(lanes[lane]->b[1], i);
    }
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      float& c = lanes[lane]->c[i];
      c = step(c, a[lane / 4 + i / 2 * 8], b[lane % 4 * 2 + i % 2]);
    }
  }
}

}  // namespace

void carry_out_collective(const WarpRequests& lanes, Step step) {
  switch (lanes[0]->op) {
    case Op::kShuffle:
      shuffle(lanes);
      break;
    case Op::kLoadMatrices:
      load_matrices(lanes);
      break;
    case Op::kMultiplyAdd:
      multiply_add(lanes, step);
      break;
    case Op::kSyncWarp:
    case Op::kWaitForSteps:
    case Op::kNone:
      break;
  }
}

}  // namespace assay::simt
