#include "client/roofline.h"

#include "client/compare_parts.h"
#include "client/metrics.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace assay::client {
namespace {

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : a ? a : b;
}

// All kernels of a stage, or of a call.
struct Counted {
  std::optional<double> bytes;
  std::optional<double> tensor;
  std::optional<double> scalar;

  void add(const v1::KernelCounters& kernel) {
    bytes = sum(bytes, dram_bytes(kernel));
    tensor = sum(tensor, tensor_flops(kernel));
    scalar = sum(scalar, scalar_flops(kernel));
  }

  std::optional<double> flops() const { return sum(tensor, scalar); }
};

class Ceilings {
 public:
  explicit Ceilings(const v1::Device& device) : device_(device) {}

  const v1::Ceiling* find(std::string_view name) const {
    const auto found = std::ranges::find_if(device_.ceilings(), [&](const v1::Ceiling& ceiling) {
      return ceiling.name() == name && std::isfinite(ceiling.value()) && ceiling.value() > 0;
    });
    return found == device_.ceilings().end() ? nullptr : &*found;
  }

  // Of tensor cores where most of the work is theirs; the higher one where nobody counted.
  const v1::Ceiling* peak(const Counted& counted) const {
    const v1::Ceiling* bf16 = find("bf16");
    const v1::Ceiling* fp32 = find("fp32");
    if (const std::optional<double> flops = counted.flops(); flops && *flops > 0) {
      return counted.tensor.value_or(0) > *flops / 2 ? bf16 : fp32;
    }
    return bf16 != nullptr && (fp32 == nullptr || bf16->value() > fp32->value()) ? bf16 : fp32;
  }

 private:
  const v1::Device& device_;
};

std::optional<double> ratio(std::optional<double> a, std::optional<double> b) {
  return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
}

std::optional<double> per_second(std::optional<double> amount, std::int64_t duration_ns) {
  return amount && duration_ns > 0 ? std::optional(*amount / static_cast<double>(duration_ns) * 1e9)
                                   : std::nullopt;
}

// The ceiling that is met first: of arithmetic, or of reading what the arithmetic needs.
void bound(RooflinePoint& point, const v1::Ceiling* read, const v1::Ceiling* peak) {
  if (!point.bytes || !point.flops) {
    return;
  }
  const double read_limit =
      read == nullptr ? 0 : point.flop_per_byte().value_or(INFINITY) * read->value();
  const bool is_read = read != nullptr && (peak == nullptr || read_limit <= peak->value());
  const v1::Ceiling* met = is_read ? read : peak;
  if (met == nullptr) {
    return;
  }
  point.bound = met->name();
  point.bound_value = met->value();
  point.attainable = is_read ? read_limit : met->value();
  const std::optional<double> rate = is_read ? point.bytes_per_second() : point.flops_per_second();
  point.share = rate.value_or(0) / met->value();
}

std::optional<double> if_positive(std::int64_t value) {
  return value > 0 ? std::optional(static_cast<double>(value)) : std::nullopt;
}

}  // namespace

std::optional<double> RooflinePoint::flop_per_byte() const {
  return ratio(flops, bytes);
}

std::optional<double> RooflinePoint::flops_per_second() const {
  return per_second(flops, median_ns);
}

std::optional<double> RooflinePoint::bytes_per_second() const {
  return per_second(bytes, median_ns);
}

std::vector<RooflinePoint> roofline(const v1::Experiment& experiment,
                                    const v1::Configuration& configuration,
                                    Role role) {
  const v1::Measurement& measurement = measurement_of(configuration, role);
  std::vector<RooflinePoint> points;
  if (!shows_times(configuration)) {
    return points;
  }
  const Ceilings ceilings(experiment.device());
  std::vector<std::pair<std::string, Counted>> stages;
  Counted call;
  for (const v1::KernelCounters& kernel : measurement.counters()) {
    auto stage = std::ranges::find(stages, kernel.stage(), &std::pair<std::string, Counted>::first);
    if (stage == stages.end()) {
      stage = stages.emplace(stages.end(), kernel.stage(), Counted());
    }
    stage->second.add(kernel);
    call.add(kernel);
  }
  const auto add = [&](const std::string& stage, bool is_counted, const Counted& counted) {
    RooflinePoint point;
    point.stage = stage;
    point.is_counted = is_counted;
    point.bytes = is_counted ? counted.bytes : if_positive(measurement.min_bytes());
    point.flops = is_counted ? counted.flops() : if_positive(measurement.min_flops());
    if (!point.bytes && !point.flops) {
      return;
    }
    point.median_ns = stage_median_ns(configuration, role, stage);
    bound(point, ceilings.find("read"), ceilings.peak(counted));
    points.push_back(std::move(point));
  };
  for (const auto& [name, counted] : stages) {
    add(name, true, counted);
  }
  add("total", false, call);
  return points;
}

}  // namespace assay::client
