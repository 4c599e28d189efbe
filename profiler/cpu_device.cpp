#include "kernels/thread_pool.h"
#include "profiler/build_id.h"
#include "profiler/code_digest.h"
#include "profiler/cpu_bench.h"
#include "profiler/cpu_identity.h"
#include "profiler/device.h"
#include "profiler/nvtx.h"
#include "profiler/version.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sched.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::int64_t kMillisecond_ns = 1'000'000;
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kBenchBytes = 256 * kMebibyte;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

void free_memory(std::byte* memory) {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): this is what the owner calls
}

StagePlan bind_stage(const kernels::Stage<kernels::CpuLaunch>& stage) {
  StagePlan plan;
  plan.launch = stage.launch;
  plan.code = {relative_address(reinterpret_cast<const void*>(stage.launch))};
  return plan;
}

class CpuDevice : public Device {
 public:
  explicit CpuDevice(std::int64_t private_cache_bytes) {
    const std::int64_t memory_bytes =
        std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGESIZE)};
    limits_ = {.timing_source = v1::STEADY_CLOCK,
               .default_cache_mode = v1::HOT,
               .cache_bytes = private_cache_bytes,
               .input_cache_bytes = std::min(memory_bytes / 8, 1024 * kMebibyte),
               .rotation_bytes = std::min(memory_bytes / 8, 512 * kMebibyte),
               .least_warm_up_ns = 5 * kMillisecond_ns,
               .most_warm_up_ns = 250 * kMillisecond_ns,
               .memory_bytes = memory_bytes / 2};
    flush_.resize(static_cast<std::size_t>(2 * private_cache_bytes));
    description_.set_backend("cpu");
    description_.set_available(true);
    description_.set_model(cpu_model());
    description_.set_uuid(cpu_uuid(machine_name("/etc/machine-id"), description_.model()));
    description_.set_num_multiprocessors(
        static_cast<std::uint32_t>(kernels::available_processors().size()));
    description_.set_l2_bytes(private_cache_bytes);
    description_.set_memory_bytes(memory_bytes);
    description_.set_toolkit_version(compiler_version());
    description_.set_build_flags(cpu_build_flags());
    description_.set_code_version(code_version());
    v1::Capability& clocks = *description_.add_capabilities();
    clocks.set_name("clocks");
    clocks.set_reason("the cpu device reads none");
  }

  v1::Device description() override { return description_; }

  const DeviceLimits& limits() const override { return limits_; }

  v1::OperatorInfo describe(const kernels::Operator& op) const override {
    v1::OperatorInfo info = operator_message(op);
    describe_rows(
        op.cpu_variants, op.cpu_mutants, {.architecture = "cpu", .own_family = "cpu"}, info);
    return info;
  }

  absl::StatusOr<ArmPlan> plan(const kernels::Operator& op, const v1::Arm& arm) const override {
    return plan_variant(op.cpu_variants, arm, 0, bind_stage);
  }

  absl::StatusOr<ArmPlan> plan_mutant(const kernels::Operator& op,
                                      std::string_view name) const override {
    return plan_mutant_row(op.cpu_mutants, op.cpu_variants, name, 0, bind_stage);
  }

  absl::StatusOr<v1::Workload> mutant_workload(const kernels::Operator& op,
                                               std::string_view name) const override {
    const kernels::CpuMutant* row = find_row(op.cpu_mutants, name);
    if (row == nullptr) {
      return no_such_row("mutant", op.cpu_mutants, name);
    }
    return settings_workload(row->axes);
  }

  absl::StatusOr<DeviceMemory> allocate(std::int64_t num_bytes) override {
    const auto rounded = (static_cast<std::size_t>(num_bytes) + kAlignment) & ~(kAlignment - 1);
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("aligned_alloc of ", num_bytes, " bytes failed"));
    }
    return DeviceMemory(memory, free_memory);
  }

  absl::Status write(std::byte* to, std::span<const std::byte> from) override {
    std::ranges::copy(from, to);
    return absl::OkStatus();
  }

  absl::Status read(std::span<std::byte> to, const std::byte* from) override {
    std::copy_n(from, to.size(), to.begin());
    return absl::OkStatus();
  }

  absl::Status copy(std::byte* to, const std::byte* from, std::int64_t num_bytes) override {
    std::copy_n(from, num_bytes, to);
    return absl::OkStatus();
  }

  absl::Status fill(std::byte* to, std::byte value, std::int64_t num_bytes) override {
    std::fill_n(to, num_bytes, value);
    return absl::OkStatus();
  }

  absl::Status run(const ArmPlan& arm, const kernels::Call& call, absl::Status& finished) override {
    finished = absl::OkStatus();
    for (const StagePlan& stage : arm.stages) {
      if (absl::Status status = stage.launch(call); !status.ok()) {
        finished = absl::Status(
            status.code(), absl::StrCat("stage ", stage.name, ": ", std::string(status.message())));
        break;
      }
    }
    return absl::OkStatus();
  }

  // The kernels' own threads leave the first processor to the caller. Being refused costs
  // steadiness only.
  absl::Status prepare_timing() override {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(kernels::available_processors().front()), &cpus);
    static_cast<void>(sched_setaffinity(0, sizeof cpus, &cpus));
    return absl::OkStatus();
  }

  absl::StatusOr<BlockTimes> time_block(const BlockRequest& request) override;

  absl::StatusOr<BlockTimes> time_by_events(const BlockRequest& /*request*/) override {
    return absl::UnimplementedError("the cpu device has no events");
  }

  absl::StatusOr<std::vector<v1::Ceiling>> bench() override {
    return bench_cpu(std::min(limits_.memory_bytes / 4, kBenchBytes));
  }

  absl::StatusOr<std::int64_t> floor_ns(std::int64_t /*num_bytes*/) override { return 0; }

  std::string code_digest(const ArmPlan& arm,
                          std::span<const v1::KernelResources> resources) const override {
    return code_digest_of(arm, resources);
  }

  void spin() override {
    const std::int64_t end_ns = now_ns() + 30'000 * kMillisecond_ns;
    while (now_ns() < end_ns) {
    }
  }

 private:
  DeviceLimits limits_;
  v1::Device description_;
  std::vector<std::byte> flush_;
  unsigned char flush_value_ = 0;
};

absl::StatusOr<BlockTimes> CpuDevice::time_block(const BlockRequest& request) {
  const std::size_t num_stages = request.arm->stages.size();
  BlockTimes times;
  times.stages.resize(num_stages + 1);
  for (std::size_t stage = 0; stage < num_stages; ++stage) {
    times.stages[stage].set_stage(request.arm->stages[stage].name);
  }
  times.stages[num_stages].set_stage("total");
  for (v1::StageSamples& stage : times.stages) {
    stage.mutable_samples_ns()->Resize(static_cast<int>(request.num_calls), 0);
  }
  times.block.set_num_calls(request.num_calls);
  times.block.set_started_ns(now_ns());

  kernels::Call call = {.problem = request.problem, .parameters = request.arm->parameters};
  const NvtxRange arm_range(request.label);
  for (std::uint32_t index = 0; index < request.num_calls; ++index) {
    call.tensors = request.sets[(request.first_set + index) % request.sets.size()];
    if (request.flush) {
      std::ranges::fill(flush_, static_cast<std::byte>(++flush_value_));
    }
    const NvtxRange call_range("call");
    const std::int64_t first_ns = now_ns();
    std::int64_t begin_ns = first_ns;
    for (std::size_t stage = 0; stage < num_stages; ++stage) {
      const absl::Status status = request.arm->stages[stage].launch(call);
      const std::int64_t end_ns = now_ns();
      if (!status.ok()) {
        return status;
      }
      times.stages[stage].set_samples_ns(static_cast<int>(index), end_ns - begin_ns);
      if (request.is_traced) {
        v1::KernelSpan& span = *times.traced.add_spans();
        span.set_stage(request.arm->stages[stage].name);
        span.set_kernel(request.arm->arm.variant());
        span.set_call(index);
        span.set_start_ns(begin_ns - times.block.started_ns());
        span.set_end_ns(end_ns - times.block.started_ns());
      }
      begin_ns = end_ns;
    }
    times.stages[num_stages].set_samples_ns(static_cast<int>(index), begin_ns - first_ns);
  }
  return times;
}

}  // namespace

std::unique_ptr<Device> make_cpu_device(std::int64_t private_cache_bytes) {
  return std::make_unique<CpuDevice>(private_cache_bytes);
}

}  // namespace assay::profiler
