#include "profiler/cupti_activity.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <cupti.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

namespace assay::profiler {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelActivity = CUpti_ActivityKernel10;
#else
using KernelActivity = CUpti_ActivityKernel9;
#endif

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kBufferAlignment = 64;
constexpr std::array<const char*, 5> kLibraries = {"libcupti.so.13",
                                                   "libcupti.so",
                                                   "/usr/local/cuda/lib64/libcupti.so",
                                                   "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                                   "libcupti.so.12"};
constexpr std::array<CUpti_ActivityKind, 4> kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                      CUPTI_ACTIVITY_KIND_RUNTIME,
                                                      CUPTI_ACTIVITY_KIND_DRIVER};

struct Functions {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) num_dropped = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop = nullptr;
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

class LoadedCupti;
// CUPTI's callbacks carry no user data.
LoadedCupti* the_cupti = nullptr;

class LoadedCupti : public CuptiActivity {
 public:
  LoadedCupti(const Functions& functions, std::uint32_t version)
      : functions_(functions), version_(version) {
    the_cupti = this;
  }

  // The library stays loaded: its threads may still be in it.
  ~LoadedCupti() override {
    for (const CUpti_ActivityKind kind : kKinds) {
      functions_.disable(kind);
    }
    functions_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    the_cupti = nullptr;
  }

  LoadedCupti(const LoadedCupti&) = delete;
  LoadedCupti& operator=(const LoadedCupti&) = delete;

  absl::Status start() {
    return status_of(functions_.register_callbacks(request_buffer, complete_buffer),
                     "cuptiActivityRegisterCallbacks");
  }

  absl::Status begin(std::uint32_t num_calls, std::span<const std::string> stages) override;
  absl::Status push(std::uint32_t call, std::size_t stage) override;
  absl::Status pop() override;
  absl::StatusOr<CollectedBlock> finish() override;
  absl::Status pause() override;

  std::string version() const override { return absl::StrCat(version_); }

 private:
  absl::Status status_of(CUptiResult result, const char* call) const;
  void take(std::uint8_t* buffer, std::size_t num_bytes, CUcontext context, std::uint32_t stream);

  static void CUPTIAPI request_buffer(std::uint8_t** buffer,
                                      std::size_t* num_bytes,
                                      std::size_t* most_records);
  static void CUPTIAPI complete_buffer(CUcontext context,
                                       std::uint32_t stream,
                                       std::uint8_t* buffer,
                                       std::size_t size,
                                       std::size_t num_valid_bytes);

  Functions functions_;
  std::uint32_t version_;
  bool is_enabled_ = false;
  std::mutex mutex_;
  ActivityCollector collector_;  // guarded by mutex_
};

absl::Status LoadedCupti::status_of(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) {
    return absl::OkStatus();
  }
  const char* text = nullptr;
  functions_.result_string(result, &text);
  return absl::UnavailableError(absl::StrCat(call, ": ", text == nullptr ? "unknown" : text));
}

void LoadedCupti::request_buffer(std::uint8_t** buffer,
                                 std::size_t* num_bytes,
                                 std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *num_bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;
}

void LoadedCupti::complete_buffer(CUcontext context,
                                  std::uint32_t stream,
                                  std::uint8_t* buffer,
                                  std::size_t /*size*/,
                                  std::size_t num_valid_bytes) {
  if (the_cupti != nullptr) {
    the_cupti->take(buffer, num_valid_bytes, context, stream);
  }
  std::free(buffer);  // NOLINT(cppcoreguidelines-no-malloc): the library was its owner
}

// Runs on CUPTI's threads, and on ours inside of a flush: nobody may flush with the lock held.
void LoadedCupti::take(std::uint8_t* buffer,
                       std::size_t num_bytes,
                       CUcontext context,
                       std::uint32_t stream) {
  const std::lock_guard lock(mutex_);
  CUpti_Activity* record = nullptr;
  while (functions_.next_record(buffer, num_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
        record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
      const auto* kernel = reinterpret_cast<const KernelActivity*>(record);
      collector_.add_kernel({.correlation_id = kernel->correlationId,
                             .start_ns = kernel->start,
                             .end_ns = kernel->end});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
      const auto* external = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      if (external->externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) {
        collector_.add_external(external->correlationId, external->externalId);
      }
    }
  }
  std::size_t num_dropped = 0;
  if (functions_.num_dropped(context, stream, &num_dropped) == CUPTI_SUCCESS) {
    collector_.add_dropped(num_dropped);
  }
}

absl::Status LoadedCupti::begin(std::uint32_t num_calls, std::span<const std::string> stages) {
  if (!is_enabled_) {
    for (const CUpti_ActivityKind kind : kKinds) {
      ASSAY_RETURN_IF_ERROR(status_of(functions_.enable(kind), "cuptiActivityEnable"));
    }
    is_enabled_ = true;
  }
  // Records of warm-up and of the block before go to the collector's former state.
  ASSAY_RETURN_IF_ERROR(
      status_of(functions_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll"));
  const std::lock_guard lock(mutex_);
  collector_.begin(num_calls, stages);
  return absl::OkStatus();
}

absl::Status LoadedCupti::push(std::uint32_t call, std::size_t stage) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = collector_.id_of(call, stage);
  }
  return status_of(functions_.push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, id),
                   "cuptiActivityPushExternalCorrelationId");
}

absl::Status LoadedCupti::pop() {
  std::uint64_t id = 0;
  return status_of(functions_.pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id),
                   "cuptiActivityPopExternalCorrelationId");
}

absl::Status LoadedCupti::pause() {
  if (!is_enabled_) {
    return absl::OkStatus();
  }
  is_enabled_ = false;
  for (const CUpti_ActivityKind kind : kKinds) {
    ASSAY_RETURN_IF_ERROR(status_of(functions_.disable(kind), "cuptiActivityDisable"));
  }
  return status_of(functions_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
}

absl::StatusOr<CollectedBlock> LoadedCupti::finish() {
  ASSAY_RETURN_IF_ERROR(
      status_of(functions_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll"));
  const std::lock_guard lock(mutex_);
  return collector_.finish();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CuptiActivity>> CuptiActivity::open() {
  void* library = nullptr;
  for (const char* name : kLibraries) {
    library = library == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library;
  }
  if (library == nullptr) {
    return absl::UnavailableError("libcupti.so cannot be loaded");
  }
  Functions functions;
  if (!find(library, "cuptiGetVersion", functions.get_version) ||
      !find(library, "cuptiGetResultString", functions.result_string) ||
      !find(library, "cuptiActivityRegisterCallbacks", functions.register_callbacks) ||
      !find(library, "cuptiActivityEnable", functions.enable) ||
      !find(library, "cuptiActivityDisable", functions.disable) ||
      !find(library, "cuptiActivityFlushAll", functions.flush) ||
      !find(library, "cuptiActivityGetNextRecord", functions.next_record) ||
      !find(library, "cuptiActivityGetNumDroppedRecords", functions.num_dropped) ||
      !find(library, "cuptiActivityPushExternalCorrelationId", functions.push) ||
      !find(library, "cuptiActivityPopExternalCorrelationId", functions.pop)) {
    return absl::UnavailableError("libcupti.so lacks a function that is needed");
  }
  // Records are read by the layout of the headers, so the major version must be theirs.
  std::uint32_t version = 0;
  constexpr std::uint32_t kVersionsPerMajor = 10'000;
  if (functions.get_version(&version) != CUPTI_SUCCESS ||
      version / kVersionsPerMajor != CUPTI_API_VERSION / kVersionsPerMajor) {
    return absl::UnavailableError(absl::StrCat("libcupti.so has API version ",
                                               version,
                                               ", this program was built for ",
                                               CUPTI_API_VERSION));
  }
  auto cupti = std::make_unique<LoadedCupti>(functions, version);
  ASSAY_RETURN_IF_ERROR(cupti->start());
  return cupti;
}

}  // namespace assay::profiler
