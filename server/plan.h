// What an experiment asks for, checked against what a device can do and laid out as configurations.
// Pure: names, values and limits are judged here; rules across axes are the operator's, asked of a
// runner. Errors name the field by path (`spec.axes[1].values[0]: ...`); NOT_FOUND lists the valid
// names, sorted.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/points.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::server {

// Limits stated in proto/assay.proto.
inline constexpr std::uint64_t kMaxConfigurations = 1'000'000;
inline constexpr std::uint32_t kMaxCalls = 10'000;
inline constexpr std::uint32_t kMaxRounds = 48;
inline constexpr double kMaxLeastEffect = 0.5;
inline constexpr double kDefaultLeastEffect = 0.01;
inline constexpr std::int64_t kDefaultBudgetNs = 120'000'000'000;
inline constexpr std::int64_t kDefaultDeadlineNs = 120'000'000'000;
inline constexpr std::int64_t kDefaultCheckDeadlineNs = 3'600'000'000'000;
inline constexpr double kDefaultDropAbove = 0.05;
inline constexpr std::int64_t kMaxDurationNs = 86'400'000'000'000;
inline constexpr std::size_t kMaxLabelBytes = 200;
inline constexpr std::size_t kMaxCounterBytes = 200;
inline constexpr int kMaxCounters = 64;
inline constexpr std::size_t kMaxSpecBytes = std::size_t{12} << 20;
inline constexpr std::size_t kMaxRequestIdBytes = 128;

// What a device's runner said of itself.
struct Description {
  v1::Device device;
  std::vector<v1::OperatorInfo> operators;
  std::vector<std::string> restrictions;  // on the space of a sweep; of an operator from source
};

class Plan {
 public:
  // At most kMaxConfigurations; nothing is expanded before it is asked for.
  std::uint32_t num_configurations() const { return num_configurations_; }

  // Number, workload and arms of configuration `number`, 1 is the first; suite and name of a CHECK.
  v1::Configuration configuration(std::uint32_t number) const;

  std::uint32_t num_workloads() const { return num_workloads_; }

  v1::Workload workload(std::uint32_t index) const;

  // Of a SWEEP: the valid configurations of each workload.
  const tuning::PointSet& points(std::uint32_t workload) const {
    return points_[points_.size() == 1 ? 0 : workload];
  }

  // How many of them are tried at most.
  std::uint32_t most_tried(std::uint32_t workload) const;

  // The candidate with the values at these places of the sweep's axes.
  v1::Arm sweep_arm(std::span<const std::uint16_t> places) const;

  // The arm that a SWEEP begins with, and its candidate with defaults on the sweep's axes.
  v1::Arm baseline_arm() const;
  v1::Arm default_arm() const;

  const v1::ExperimentSpec& spec() const { return spec_; }

  const v1::OperatorInfo& operator_info() const { return operator_; }

 private:
  friend class Planner;

  // One candidate (none in MEASURE) with the launch-parameter axes that reach it or the baseline.
  struct Lane {
    int candidate = -1;
    std::vector<int> axes;  // indices into spec_.axes()
    std::uint64_t num_settings = 1;
  };

  v1::ExperimentSpec spec_;
  v1::OperatorInfo operator_;
  std::vector<v1::Workload> bases_;  // named workloads, or one of defaults
  std::vector<int> workload_axes_;   // indices into spec_.axes()
  std::vector<Lane> lanes_;
  std::vector<v1::CheckInfo> checks_;
  std::vector<tuning::PointSet> points_;  // SWEEP: of each workload, or one for all
  std::uint32_t num_workloads_ = 0;
  std::uint32_t num_configurations_ = 0;
};

// Request id, label, limits and enumerations: what needs no device.
absl::Status check_request(const v1::SubmitRequest& request);

// The whole plan. FAILED_PRECONDITION: the device cannot run a variant.
absl::StatusOr<Plan> make_plan(const v1::ExperimentSpec& spec, const Description& description);

}  // namespace assay::server
