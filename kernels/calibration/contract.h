// calibration: y[i] = x[i] after `steps` rounds of w = w * 747796405 + 2891336453, w ^= w >> 15 on
// 32-bit words. Kernels of a length that is known beforehand, to measure the workbench itself with.
// Each round needs the one before it, so a call's time grows with `steps`; none of them is a copy.
// Bit contract: integers only, so that every device has the same bits; they depend on (seed, i) and
// the number of rounds, on nothing else.
#pragma once

#include "kernels/operator.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <span>

namespace assay::kernels::calibration {

inline constexpr std::uint32_t kMultiplier = 747'796'405;
inline constexpr std::uint32_t kIncrement = 2'891'336'453;
inline constexpr int kShift = 15;
inline constexpr int kFour = 4;  // elements of a 16-byte access

struct Shape {
  std::int64_t num_elements = 0;  // at least 1
  std::uint32_t num_rounds = 0;   // of each element's chain
};

// Places in Problem::tensors(). Words are unsigned; their bits are kept as i32.
enum Tensor : std::size_t {
  kX,  // i32 [elements]
  kY,  // i32 [elements]
  kNumTensors,
};

// What kernels take, by value. On CUDA the pointers are the device's; both are aligned to 16 bytes.
struct Params {
  const std::uint32_t* __restrict__ x;
  std::uint32_t* __restrict__ y;
  std::int64_t num_elements;
  std::uint32_t num_rounds;
  std::uint32_t num_extra_rounds;  // whose result is thrown away
  std::uint32_t nothing;           // 0, which no compiler knows: it masks what is thrown away
};

class CalibrationProblem : public Problem {
 public:
  virtual const Shape& shape() const = 0;
};

// Place and axis of the launch parameter that every variant begins with: rounds per thousand that
// are run and thrown away.
inline constexpr std::size_t kExtra = 0;
inline constexpr std::int32_t kMostExtra = 1'000;

constexpr AxisInfo extra_axis(std::string_view default_value) {
  return {.name = "extra",
          .help = "runs so many more rounds per thousand and throws their result away",
          .default_value = default_value,
          .min = 0,
          .max = kMostExtra};
}

// Of a call whose problem is a CalibrationProblem.
const Shape& shape_of(const Call& call);
Params params_of(const Call& call);

std::span<const AxisInfo> axes();
// INVALID_ARGUMENT names the axis.
absl::StatusOr<Shape> parse_shape(const Workload& workload);

}  // namespace assay::kernels::calibration
