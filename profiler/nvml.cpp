#include "profiler/nvml.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <dlfcn.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::profiler {
namespace {

// The parts of NVML's stable interface that are used here; toolkits come without its header.
using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr unsigned kSmClock = 1;
constexpr unsigned kMemoryClock = 2;
constexpr unsigned kGpuTemperature = 0;
constexpr unsigned kVersionBytes = 80;

constexpr std::uint64_t kHardwareSlowdown = 0x8;
constexpr std::uint64_t kSoftwareThermal = 0x20;
constexpr std::uint64_t kHardwareThermal = 0x40;
constexpr std::uint64_t kHardwarePowerBrake = 0x80;
constexpr std::uint64_t kDisqualifying =
    kHardwareSlowdown | kSoftwareThermal | kHardwareThermal | kHardwarePowerBrake;

constexpr std::array<std::pair<std::uint64_t, const char*>, 8> kReasons = {
    {{0x2, "application clocks"},
     {0x4, "power cap"},
     {kHardwareSlowdown, "hardware slowdown"},
     {0x10, "sync boost"},
     {kSoftwareThermal, "software thermal slowdown"},
     {kHardwareThermal, "hardware thermal slowdown"},
     {kHardwarePowerBrake, "hardware power brake"},
     {0x100, "display clocks"}}};

std::string text_of(std::uint64_t reasons) {
  std::string text;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", name);
    }
  }
  return text;
}

// nvmlProcessInfo_t of version 2 and later.
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

constexpr std::size_t kMostProcesses = 64;
// Asking for processes takes longer than a short block.
constexpr std::chrono::milliseconds kProcessesInterval{200};

struct CloseLibrary {
  void operator()(void* library) const noexcept { dlclose(library); }
};

using Library = std::unique_ptr<void, CloseLibrary>;

struct Functions {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*device_by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*most_clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*processes)(NvmlDevice, unsigned*, ProcessInfo*) = nullptr;  // may be missing
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

class LoadedNvml : public Nvml {
 public:
  LoadedNvml(Library library, Functions functions, NvmlDevice device)
      : library_(std::move(library)), functions_(functions), device_(device) {}

  ~LoadedNvml() override { functions_.shutdown(); }

  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;

  DeviceState read() const override {
    DeviceState state;
    const auto get = [&](auto function, auto... arguments) {
      unsigned value = 0;
      return function(device_, arguments..., &value) == kSuccess ? value : 0U;
    };
    state.sm_clock_mhz = get(functions_.clock, kSmClock);
    state.most_sm_clock_mhz = get(functions_.most_clock, kSmClock);
    state.memory_clock_mhz = get(functions_.clock, kMemoryClock);
    state.temperature_celsius = get(functions_.temperature, kGpuTemperature);
    state.power_milliwatts = get(functions_.power);
    unsigned long long reasons = 0;
    if (functions_.reasons(device_, &reasons) == kSuccess) {
      state.throttle_reasons = reasons;
    }
    state.num_other_processes = other_processes();
    return state;
  }

  std::string driver_version() const override {
    std::array<char, kVersionBytes> text = {};
    return functions_.driver_version(text.data(), kVersionBytes) == kSuccess ? text.data() : "";
  }

 private:
  std::uint32_t other_processes() const {
    const auto now = std::chrono::steady_clock::now();
    if (functions_.processes == nullptr || now < asked_ + kProcessesInterval) {
      return num_others_;
    }
    asked_ = now;
    std::array<ProcessInfo, kMostProcesses> infos = {};
    unsigned num = kMostProcesses;
    if (functions_.processes(device_, &num, infos.data()) != kSuccess) {
      return num_others_;
    }
    std::vector<std::uint32_t> ids;
    for (unsigned i = 0; i < num && i < kMostProcesses; ++i) {
      ids.push_back(infos[i].pid);
    }
    num_others_ = count_others(ids, static_cast<std::uint32_t>(getpid()));
    return num_others_;
  }

  Library library_;
  Functions functions_;
  NvmlDevice device_;
  mutable std::chrono::steady_clock::time_point asked_;
  mutable std::uint32_t num_others_ = 0;
};

}  // namespace

std::string throttle_text(std::uint64_t reasons) {
  return text_of(reasons);
}

std::uint32_t count_others(std::span<const std::uint32_t> process_ids, std::uint32_t own_id) {
  const auto num = static_cast<std::uint32_t>(process_ids.size());
  const auto own = static_cast<std::uint32_t>(std::ranges::count(process_ids, own_id));
  return num == 0 ? 0 : num - std::max(own, 1U);
}

std::string disqualifying_text(std::uint64_t reasons) {
  return text_of(reasons & kDisqualifying);
}

absl::StatusOr<std::unique_ptr<Nvml>> Nvml::open(const std::string& uuid) {
  Library library(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) {
    return absl::UnavailableError("libnvidia-ml.so.1 cannot be loaded");
  }
  Functions functions;
  void* handle = library.get();
  if (!find(handle, "nvmlInit_v2", functions.init) ||
      !find(handle, "nvmlShutdown", functions.shutdown) ||
      !find(handle, "nvmlDeviceGetHandleByUUID", functions.device_by_uuid) ||
      !find(handle, "nvmlDeviceGetClockInfo", functions.clock) ||
      !find(handle, "nvmlDeviceGetMaxClockInfo", functions.most_clock) ||
      !find(handle, "nvmlDeviceGetTemperature", functions.temperature) ||
      !find(handle, "nvmlDeviceGetPowerUsage", functions.power) ||
      !find(handle, "nvmlSystemGetDriverVersion", functions.driver_version) ||
      (!find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", functions.reasons) &&
       !find(handle, "nvmlDeviceGetCurrentClocksEventReasons", functions.reasons))) {
    return absl::UnavailableError("libnvidia-ml.so.1 lacks a function that is needed");
  }
  find(handle, "nvmlDeviceGetComputeRunningProcesses_v3", functions.processes);
  if (const int code = functions.init(); code != kSuccess) {
    return absl::UnavailableError(absl::StrCat("nvmlInit_v2: error ", code));
  }
  NvmlDevice device = nullptr;
  if (const int code = functions.device_by_uuid(uuid.c_str(), &device); code != kSuccess) {
    functions.shutdown();
    return absl::UnavailableError(absl::StrCat("nvmlDeviceGetHandleByUUID: error ", code));
  }
  return std::make_unique<LoadedNvml>(std::move(library), functions, device);
}

}  // namespace assay::profiler
