// The defects that mutants carry, each planted by one `if constexpr`.
#pragma once

#include <cstdint>

namespace assay::kernels::calibration {

enum class Mutation : std::uint8_t {
  kNone,
  kOneRoundLess,      // a chain ends one round early
  kSkipsLastElement,  // the last element is not written
  kKeepsExtraRounds,  // the rounds that are to be thrown away are kept
  kDropsRest,         // elements after the last whole four are not written
};

}  // namespace assay::kernels::calibration
