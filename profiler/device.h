// What the session needs of a device: memory, calls, timed blocks. One device a process; it is used
// from one thread. A returned error means that the device can no longer be trusted, unless a
// function says otherwise.
#pragma once

#include "kernels/operator.h"
#include "profiler/arm_plan.h"
#include "profiler/source_launch.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::profiler {

using DeviceMemory = std::unique_ptr<std::byte, void (*)(std::byte*)>;

// `num_calls` calls of one arm, rotating over the sets of tensors from `first_set` on.
struct BlockRequest {
  const ArmPlan* arm = nullptr;
  const kernels::Problem* problem = nullptr;
  std::span<void* const* const> sets = {};
  std::size_t first_set = 0;
  std::uint32_t num_calls = 0;
  bool flush = false;      // before every call, outside the timed window
  bool is_traced = false;  // BlockTimes::traced is wanted
  std::int64_t experiment_id = 0;
  std::string_view label;
};

// The stages of the arm, "total" and, on CUDA, "span": num_calls samples each, or "total" alone
// with a sample a replay; 0 stands for a call whose time could not be had.
struct BlockTimes {
  v1::Block block;  // all but round and leg
  std::vector<v1::StageSamples> stages;
  std::uint32_t num_invalid_records = 0;
  std::uint32_t num_dropped_records = 0;
  // Kernels that ran on another stream than the calls were given; known of kernel times alone.
  std::uint32_t num_elsewhere = 0;
  v1::TracedBlock traced;  // its spans alone, where they are wanted and the source has them
};

// Calls of one arm captured as a graph, ready to run. Not to be replayed after its tensors are
// gone.
class CapturedCalls {
 public:
  CapturedCalls() = default;
  CapturedCalls(const CapturedCalls&) = delete;
  CapturedCalls& operator=(const CapturedCalls&) = delete;
  virtual ~CapturedCalls() = default;

  // Replays once unwatched, which hides the host's part and leaves the caches as every replay does,
  // and then `num_replays` times back to back. Profilers are off.
  virtual absl::StatusOr<BlockTimes> time_replays(std::uint32_t num_replays) = 0;

  // Replays once unwatched, and then `num_replays` times kernel by kernel: a sample a call, as of a
  // block outside of graphs.
  virtual absl::StatusOr<BlockTimes> time_by_activity(std::uint32_t /*num_replays*/,
                                                      bool /*is_traced*/) {
    return absl::UnimplementedError("the device has no times of single kernels");
  }
};

// Limits of the device, for planning a session.
struct DeviceLimits {
  v1::TimingSource timing_source = v1::TIMING_SOURCE_UNSPECIFIED;
  v1::CacheMode default_cache_mode = v1::HOT;
  std::int64_t cache_bytes = 0;        // what a cold run must push out
  std::int64_t input_cache_bytes = 0;  // kept from one problem to the next
  std::int64_t rotation_bytes = 0;     // at most this much for rotating sets
  std::int64_t least_warm_up_ns = 0;
  std::int64_t most_warm_up_ns = 0;
  std::int64_t memory_bytes = 0;  // one problem may take this much
  bool has_graphs = false;
  // Why times of single kernels (CUPTI_ACTIVITY) cannot be had; OK: they can, or are not the
  // device's.
  absl::Status activity = {};
};

// Counters are missing, and that is all: the device is as it was.
inline bool is_uncounted(const absl::Status& status) {
  return absl::IsUnimplemented(status) || absl::IsInvalidArgument(status) ||
         absl::IsUnavailable(status) || absl::IsPermissionDenied(status);
}

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual v1::Device description() = 0;
  virtual const DeviceLimits& limits() const = 0;

  // The operator with this backend's variants and mutants.
  virtual v1::OperatorInfo describe(const kernels::Operator& op) const = 0;
  // NOT_FOUND, INVALID_ARGUMENT; FAILED_PRECONDITION when this device cannot run it. All harmless.
  virtual absl::StatusOr<ArmPlan> plan(const kernels::Operator& op, const v1::Arm& arm) const = 0;
  virtual absl::StatusOr<ArmPlan> plan_mutant(const kernels::Operator& op,
                                              std::string_view name) const = 0;
  // The workload that shows a mutant's defect; NOT_FOUND is harmless.
  virtual absl::StatusOr<v1::Workload> mutant_workload(const kernels::Operator& op,
                                                       std::string_view name) const = 0;

  // Whether it runs machine code that is compiled from source; FAILED_PRECONDITION says why not.
  virtual absl::Status takes_source() const {
    return absl::FailedPreconditionError("source needs a CUDA device");
  }

  // The cubin's code on the device until its last holder lets go. Harmless.
  virtual absl::StatusOr<std::shared_ptr<LoadedSource>> load_source(
      std::span<const std::byte> /*cubin*/) const {
    return takes_source();
  }

  // A stage of a plan, of code from load_source(). RESOURCE_EXHAUSTED: more threads or shared
  // memory than the kernel or the device can have. Harmless.
  virtual absl::StatusOr<StagePlan> bind_source(const SourceLaunch& /*launch*/) const {
    return takes_source();
  }

  // 256-byte aligned. RESOURCE_EXHAUSTED is harmless.
  virtual absl::StatusOr<DeviceMemory> allocate(std::int64_t num_bytes) = 0;
  virtual absl::Status write(std::byte* to, std::span<const std::byte> from) = 0;
  virtual absl::Status read(std::span<std::byte> to, const std::byte* from) = 0;
  virtual absl::Status copy(std::byte* to, const std::byte* from, std::int64_t num_bytes) = 0;
  virtual absl::Status fill(std::byte* to, std::byte value, std::int64_t num_bytes) = 0;

  // Runs every stage once and waits. `finished` gets the error of a launcher that gave up; the
  // device is then still sound.
  virtual absl::Status run(const ArmPlan& arm,
                           const kernels::Call& call,
                           absl::Status& finished) = 0;

  // Once before a configuration is timed.
  virtual absl::Status prepare_timing() = 0;
  virtual absl::StatusOr<BlockTimes> time_block(const BlockRequest& request) = 0;

  // The calls of a block as a graph, flushes among them. FAILED_PRECONDITION (harmless) where they
  // cannot be captured.
  virtual absl::StatusOr<std::unique_ptr<CapturedCalls>> capture(const BlockRequest& /*request*/) {
    return absl::FailedPreconditionError("launch_mode: the device has no graphs");
  }

  // A second, independent figure; UNIMPLEMENTED (harmless) where there is none.
  virtual absl::StatusOr<BlockTimes> time_by_events(const BlockRequest& request) = 0;

  // What the device can do at most, without date and versions. RESOURCE_EXHAUSTED is harmless.
  virtual absl::StatusOr<std::vector<v1::Ceiling>> bench() = 0;

  // Hardware counters of one call, kernel by kernel, in replays of their own: `counters` as in
  // ExperimentSpec, at least one. Harmless when is_uncounted(): UNIMPLEMENTED, INVALID_ARGUMENT
  // (names what is unknown), UNAVAILABLE and PERMISSION_DENIED say why there are none.
  virtual absl::StatusOr<std::vector<v1::KernelCounters>> count(
      const BlockRequest& /*request*/, std::span<const std::string> /*counters*/) {
    return absl::UnimplementedError("the device has no counters");
  }

  // The time that `num_bytes` take at the read ceiling; 0 when none is known.
  virtual absl::StatusOr<std::int64_t> floor_ns(std::int64_t num_bytes) = 0;
  // Distinguishes the machine code that an arm runs.
  virtual std::string code_digest(const ArmPlan& arm,
                                  std::span<const v1::KernelResources> resources) const = 0;
  // Hangs the device for half a minute: a planted fault for tests of deadlines.
  virtual void spin() = 0;
};

// The cpu device. `private_cache_bytes` is what a cold run must push out.
std::unique_ptr<Device> make_cpu_device(std::int64_t private_cache_bytes);

// The CUDA device of that number. UNAVAILABLE says why there is none.
absl::StatusOr<std::unique_ptr<Device>> make_cuda_device(int ordinal);

}  // namespace assay::profiler
