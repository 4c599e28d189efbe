// One configuration on a device: open checks the arms and warms up, time runs rounds, close looks
// once more at what the timed calls left. Both arms use the same buffers. A status with the payload
// of refused() means that the device is sound; any other error that it is done for.
#pragma once

#include "kernels/operator.h"
#include "profiler/arm_check.h"
#include "profiler/block_plan.h"
#include "profiler/device.h"
#include "profiler/refusal.h"
#include "profiler/subject.h"
#include "profiler/tolerance.h"
#include "profiler/workspace.h"
#include "proto/runner.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace assay::profiler {

// What a runner keeps from one request to the next.
struct RunnerState {
  explicit RunnerState(Device& device_in) : device(device_in), workspace(device_in) {}

  Device& device;
  Workspace workspace;
  ReferenceCache references;
};

// One arm and what is known of it. Outside Session, whose members are complete only at its end.
struct SessionArm {
  ArmPlan plan;
  CheckedOutputs checked;
  HostOutputs timed;  // of the last timed call
  bool was_timed = false;
  std::string warm_up;
  std::int64_t call_ns = 0;
  v1::Admission admission;
  std::uint32_t num_calls = 0;           // a block
  std::unique_ptr<CapturedCalls> graph;  // in the graph launch mode
  std::uint32_t calls_per_replay = 0;    // of the graph
  std::uint32_t num_elsewhere = 0;       // kernels of its calls that ran on another stream
};

class Session {
 public:
  // All outlive the session.
  Session(RunnerState& state, Subject& subject) : state_(state), subject_(subject) {}

  Session(RunnerState& state, const kernels::Operator& op)
      : state_(state),
        catalogue_(std::make_unique<CatalogueSubject>(state.device, op)),
        subject_(*catalogue_) {}

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // An arm that fails a check is reported, and nothing is warmed up.
  absl::StatusOr<v1::RunnerOpened> open(const v1::RunnerOpen& request);
  absl::StatusOr<v1::RunnerTimed> time(const v1::RunnerTime& request);
  absl::StatusOr<v1::RunnerClosed> close(const v1::RunnerClose& request);

 private:
  using Arm = SessionArm;

  struct Leg {
    std::uint32_t round = 0;
    std::uint32_t place = 0;
    bool is_looked_at = false;
    bool is_traced = false;
  };

  absl::Status plan_arms(const v1::RunnerOpen& request);
  absl::Status describe_arm(const Arm& arm, v1::Measurement& measurement);
  absl::Status choose_sets(const v1::RunnerOpen& request);
  absl::Status choose_source(v1::TimingSource asked);
  // Graphs that are long enough, by their own account of how long a call is.
  absl::Status capture(Arm& arm, std::uint32_t asked);
  // As its times' source asks for.
  absl::StatusOr<std::uint32_t> calls_of_graph(std::uint32_t asked, std::int64_t call_ns) const;
  absl::Status trace_replay(Arm& arm, v1::Measurement& measurement);
  absl::Status warm_up(Arm& arm, std::int64_t admission_ns);
  BlockRequest block_request(const Arm& arm, std::uint32_t num_calls);
  // In the graph launch mode as many as whole replays, at least one.
  absl::StatusOr<BlockTimes> time_calls(Arm& arm, std::uint32_t num_calls, bool is_traced = false);
  absl::Status time_leg(Arm& arm, const Leg& leg, v1::Measurement& timed);
  // The pass beside the timed one: events, or a graph's kernels one by one.
  absl::Status time_again(Arm& arm, v1::Measurement& measurement);
  // What is asked for, or why it is not there.
  absl::Status count(const Arm& arm, const v1::RunnerClose& request, v1::Measurement& measurement);
  // With the inputs of the workload's seed + `number`.
  absl::Status follow_inputs(std::uint64_t number,
                             v1::Measurement& baseline,
                             v1::Measurement* candidate);
  // Fails an arm whose kernels ran where nobody times them.
  static void judge_streams(const Arm& arm, v1::Measurement& measurement);
  absl::Status check_timed_outputs(const Arm& arm, v1::Measurement& measurement);

  RunnerState& state_;
  std::unique_ptr<CatalogueSubject> catalogue_;  // where the subject is of the catalogue
  Subject& subject_;
  kernels::Workload workload_;
  std::unique_ptr<kernels::Problem> problem_;
  std::string key_;
  std::array<std::optional<Arm>, 2> arms_;  // by ArmRole
  v1::CacheMode cache_mode_ = v1::HOT;
  v1::LaunchMode launch_mode_ = v1::STREAM;
  v1::TimingSource source_ = v1::TIMING_SOURCE_UNSPECIFIED;
  SetsPlan sets_;
  std::size_t next_set_ = 0;
  std::int64_t read_ns_ = 0;  // what reading the outputs took the last time
  std::int64_t experiment_id_ = 0;
  bool is_open_ = false;  // both arms passed their checks and may be timed
};

}  // namespace assay::profiler
