#include "server/points.h"

#include "profiler/digest.h"
#include "profiler/rounds.h"
#include "profiler/statistics.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace assay::server {
namespace {

constexpr std::string_view kWholeCall = "total";

// One digest for all outputs, in their order; empty: there is none.
std::string bits_digest_of(const v1::Measurement& measurement) {
  if (measurement.outputs().empty()) {
    return "";
  }
  std::string text;
  for (const v1::TensorDigest& output : measurement.outputs()) {
    absl::StrAppend(&text, output.tensor(), "=", output.digest(), "\n");
  }
  return profiler::digest_bytes(std::as_bytes(std::span(text))).to_hex();
}

// The most of the kernels of a stage.
void set_resources(const v1::Measurement& measurement,
                   const std::string& stage,
                   v1::SeriesPoint& point) {
  for (const v1::KernelResources& kernel : measurement.resources()) {
    if (stage == kWholeCall || kernel.stage() == stage) {
      point.set_num_registers(std::max(point.num_registers(), kernel.num_registers()));
      point.set_local_bytes(std::max(point.local_bytes(), kernel.local_bytes()));
    }
  }
}

// Whole nanoseconds of 63 bits, and the ratio of two medians is one.
bool is_time(const profiler::Quartiles& quartiles) {
  constexpr double kTooLong = 0x1p63;
  return quartiles.lower >= 0 && quartiles.median >= 0.5 && quartiles.upper < kTooLong;
}

// False: nothing good was timed.
bool set_times(const v1::Measurement& measurement,
               const std::string& stage,
               v1::SeriesPoint& point) {
  const std::vector<double> samples =
      profiler::good_samples(profiler::arm_times(measurement, stage));
  const auto quartiles = profiler::quartiles(samples);
  if (!quartiles.ok() || !is_time(*quartiles)) {
    return false;
  }
  point.set_median_ns(std::llround(quartiles->median));
  point.set_lower_quartile_ns(std::llround(quartiles->lower));
  point.set_upper_quartile_ns(std::llround(quartiles->upper));
  point.set_num_samples(static_cast<std::uint32_t>(samples.size()));
  return true;
}

v1::Series series_of(const v1::ExperimentSpec& spec,
                     const v1::Device& device,
                     const v1::Configuration& configuration,
                     const v1::Measurement& measurement) {
  v1::Series series;
  series.set_device_uuid(device.uuid());
  series.set_device_model(device.model());
  series.set_operator_name(spec.operator_name());
  series.set_workload(proto::text_of(configuration.workload()));
  series.set_variant(measurement.arm().variant());
  series.set_arm(proto::text_of(measurement.arm()));
  series.set_cache_mode(measurement.cache_mode());
  series.set_launch_mode(measurement.launch_mode());
  series.set_timing_source(measurement.timing_source());
  return series;
}

// The verdict is of a candidate, unless it blames the baseline.
bool is_rejected(const v1::Configuration& configuration,
                 const v1::Measurement& measurement,
                 bool is_baseline) {
  if (measurement.bits().failed() != v1::BITS_CHECK_UNSPECIFIED) {
    return true;
  }
  if (configuration.verdicts().empty()) {
    return false;
  }
  const v1::Verdict& newest = configuration.verdicts(configuration.verdicts_size() - 1);
  return newest.verdict() == v1::REJECTED && newest.rejected_baseline() == is_baseline;
}

void add_points(const v1::Configuration& configuration,
                const v1::Measurement& measurement,
                v1::Series series,
                const std::string& role,
                std::vector<db::SeriesEntry>& entries) {
  v1::SeriesPoint common;
  common.set_configuration(configuration.configuration());
  common.set_role(role);
  common.set_code_digest(measurement.code_digest());
  common.set_bits_digest(bits_digest_of(measurement));
  common.set_family(measurement.family());
  common.set_rejected(is_rejected(configuration, measurement, role == "baseline"));
  for (const v1::StageSamples& stage : measurement.stages()) {
    v1::SeriesPoint point = common;
    if (set_times(measurement, stage.stage(), point)) {
      set_resources(measurement, stage.stage(), point);
      series.set_stage(stage.stage());
      entries.push_back({.series = series, .point = std::move(point)});
    }
  }
}

}  // namespace

bool makes_points(const v1::ExperimentSpec& spec) {
  const bool has_arms =
      spec.kind() == v1::COMPARE || spec.kind() == v1::MEASURE || spec.kind() == v1::CALIBRATE;
  return has_arms && spec.confirms_regression_id() == 0;
}

std::vector<db::SeriesEntry> baseline_points(const v1::ExperimentSpec& spec,
                                             const v1::Device& device,
                                             const v1::Configuration& configuration) {
  std::vector<db::SeriesEntry> entries;
  if (configuration.has_baseline() && !device.uuid().empty()) {
    add_points(configuration,
               configuration.baseline(),
               series_of(spec, device, configuration, configuration.baseline()),
               "baseline",
               entries);
  }
  return entries;
}

std::vector<db::SeriesEntry> points_of(const v1::ExperimentSpec& spec,
                                       const v1::Device& device,
                                       const v1::Configuration& configuration) {
  if (!makes_points(spec)) {
    return {};
  }
  std::vector<db::SeriesEntry> entries = baseline_points(spec, device, configuration);
  if (configuration.has_candidate() && !device.uuid().empty()) {
    add_points(configuration,
               configuration.candidate(),
               series_of(spec, device, configuration, configuration.candidate()),
               "candidate",
               entries);
  }
  return entries;
}

}  // namespace assay::server
