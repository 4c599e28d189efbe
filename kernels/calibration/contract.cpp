#include "kernels/calibration/contract.h"

#include <charconv>
#include <string>
#include <vector>

namespace assay::kernels::calibration {
namespace {

constexpr AxisInfo kAxes[] = {
    {.name = "elements",
     .help = "words that are read, and written",
     .default_value = "33792",
     .min = 1,
     .max = std::int64_t{1} << 28},
    {.name = "steps",
     .help = "rounds of the mix, each on the result of the one before; 0 is a copy",
     .default_value = "1000",
     .min = 0,
     .max = 1'000'000},
};

// The value is known to be valid.
std::int64_t number_of(const Setting& setting) {
  std::int64_t number = 0;
  std::from_chars(setting.second.data(), setting.second.data() + setting.second.size(), number);
  return number;
}

std::uint32_t opaque_zero() {
  static const volatile std::uint32_t zero = 0;
  return zero;
}

}  // namespace

std::span<const AxisInfo> axes() {
  return kAxes;
}

absl::StatusOr<Shape> parse_shape(const Workload& workload) {
  const absl::StatusOr<std::vector<Setting>> settings = complete_settings(kAxes, workload.axes);
  if (!settings.ok()) {
    return settings.status();
  }
  return Shape{.num_elements = number_of((*settings)[0]),
               .num_rounds = static_cast<std::uint32_t>(number_of((*settings)[1]))};
}

const Shape& shape_of(const Call& call) {
  return static_cast<const CalibrationProblem*>(call.problem)->shape();
}

Params params_of(const Call& call) {
  const Shape& shape = shape_of(call);
  const auto extra = static_cast<std::uint64_t>(call.parameters.values[kExtra]);
  return {.x = static_cast<const std::uint32_t*>(call.tensors[kX]),
          .y = static_cast<std::uint32_t*>(call.tensors[kY]),
          .num_elements = shape.num_elements,
          .num_rounds = shape.num_rounds,
          .num_extra_rounds = static_cast<std::uint32_t>(shape.num_rounds * extra / 1'000),
          .nothing = opaque_zero()};
}

}  // namespace assay::kernels::calibration
