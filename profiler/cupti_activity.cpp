#include "profiler/cupti_activity.h"

#include "profiler/cupti_activity_functions.h"
#include "profiler/cupti_library.h"
#include "profiler/cupti_subscriber.h"
#include "profiler/kernel_name.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <cupti.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace assay::profiler {
namespace {

#if CUPTI_API_VERSION >= 130000
using KernelActivity = CUpti_ActivityKernel10;
#else
using KernelActivity = CUpti_ActivityKernel9;
#endif

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kBufferAlignment = 64;
constexpr std::array<CUpti_ActivityKind, 4> kKinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                                      CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                                      CUPTI_ACTIVITY_KIND_RUNTIME,
                                                      CUPTI_ACTIVITY_KIND_DRIVER};

class LoadedCupti;
// CUPTI's callbacks carry no user data.
LoadedCupti* the_cupti = nullptr;

class LoadedCupti : public CuptiActivity {
 public:
  LoadedCupti(const CuptiLibrary& library, const CuptiActivityFunctions& functions)
      : library_(library), functions_(functions), subscriber_(library, functions) {
    the_cupti = this;
  }

  // The library stays loaded: its threads may still be in it.
  ~LoadedCupti() override {
    for (const CUpti_ActivityKind kind : kKinds) {
      functions_.disable(kind);
    }
    functions_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    subscriber_.unsubscribe();
    the_cupti = nullptr;
  }

  LoadedCupti(const LoadedCupti&) = delete;
  LoadedCupti& operator=(const LoadedCupti&) = delete;

  absl::Status start();

  absl::Status expect_stream(cudaStream_t stream) override;
  absl::Status begin(std::uint32_t num_calls,
                     std::span<const std::string> stages,
                     bool keeps_spans) override;
  absl::Status begin_replays(std::uint32_t num_replays,
                             std::uint32_t calls_per_replay,
                             std::span<const std::string> stages,
                             const NodePlaces& places,
                             bool keeps_spans) override;
  absl::Status push(std::uint32_t call, std::size_t stage) override;
  absl::Status push_replay(std::uint32_t replay) override;
  absl::Status pop() override;
  absl::StatusOr<CollectedBlock> finish() override;
  absl::Status pause() override;

  absl::StatusOr<std::uint64_t> node_id(cudaGraphNode_t node) const override;

  std::vector<std::pair<std::uint64_t, std::uint64_t>> take_clones() override {
    return subscriber_.take_clones();
  }

  const LoadedModules& modules() const override { return subscriber_.modules(); }

  std::string version() const override { return absl::StrCat(library_.version); }

 private:
  absl::Status record();
  absl::Status push_id(std::uint64_t id);

  absl::Status status_of(CUptiResult result, const char* call) const {
    return library_.status_of(result, call);
  }

  void take(std::uint8_t* buffer, std::size_t num_bytes, CUcontext context, std::uint32_t stream);

  static void CUPTIAPI request_buffer(std::uint8_t** buffer,
                                      std::size_t* num_bytes,
                                      std::size_t* most_records);
  static void CUPTIAPI complete_buffer(CUcontext context,
                                       std::uint32_t stream,
                                       std::uint8_t* buffer,
                                       std::size_t size,
                                       std::size_t num_valid_bytes);

  CuptiLibrary library_;
  CuptiActivityFunctions functions_;
  CuptiSubscriber subscriber_;
  bool is_enabled_ = false;
  std::mutex mutex_;
  ActivityCollector collector_;  // guarded by mutex_
};

absl::Status LoadedCupti::start() {
  ASSAY_RETURN_IF_ERROR(subscriber_.subscribe());
  return status_of(functions_.register_callbacks(request_buffer, complete_buffer),
                   "cuptiActivityRegisterCallbacks");
}

absl::StatusOr<std::uint64_t> LoadedCupti::node_id(cudaGraphNode_t node) const {
  std::uint64_t id = 0;
  ASSAY_RETURN_IF_ERROR(status_of(functions_.graph_node_id(node, &id), "cuptiGetGraphNodeId"));
  return id;
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
      const bool is_named = collector_.keeps_spans() && kernel->name != nullptr;
      collector_.add_kernel({.correlation_id = kernel->correlationId,
                             .start_ns = kernel->start,
                             .end_ns = kernel->end,
                             .graph_node_id = kernel->graphNodeId,
                             .name = is_named ? short_kernel_name(kernel->name) : "",
                             .stream_id = kernel->streamId});
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

// Records of warm-up and of the block before go to the collector's former state.
absl::Status LoadedCupti::record() {
  if (!is_enabled_) {
    for (const CUpti_ActivityKind kind : kKinds) {
      ASSAY_RETURN_IF_ERROR(status_of(functions_.enable(kind), "cuptiActivityEnable"));
    }
    is_enabled_ = true;
  }
  return status_of(functions_.flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
}

absl::Status LoadedCupti::expect_stream(cudaStream_t stream) {
  std::uint32_t stream_id = 0;
  ASSAY_RETURN_IF_ERROR(
      status_of(functions_.stream_id(nullptr, stream, 0, &stream_id), "cuptiGetStreamIdEx"));
  const std::lock_guard lock(mutex_);
  collector_.expect_stream(stream_id);
  return absl::OkStatus();
}

absl::Status LoadedCupti::begin(std::uint32_t num_calls,
                                std::span<const std::string> stages,
                                bool keeps_spans) {
  ASSAY_RETURN_IF_ERROR(record());
  std::uint64_t now_ns = 0;
  ASSAY_RETURN_IF_ERROR(status_of(functions_.timestamp(&now_ns), "cuptiGetTimestamp"));
  const std::lock_guard lock(mutex_);
  collector_.begin(num_calls, stages);
  if (keeps_spans) {
    collector_.keep_spans(now_ns);
  }
  return absl::OkStatus();
}

absl::Status LoadedCupti::begin_replays(std::uint32_t num_replays,
                                        std::uint32_t calls_per_replay,
                                        std::span<const std::string> stages,
                                        const NodePlaces& places,
                                        bool keeps_spans) {
  ASSAY_RETURN_IF_ERROR(begin(num_replays * calls_per_replay, stages, keeps_spans));
  const std::lock_guard lock(mutex_);
  collector_.expect_replays(calls_per_replay, places);
  return absl::OkStatus();
}

absl::Status LoadedCupti::push(std::uint32_t call, std::size_t stage) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = collector_.id_of(call, stage);
  }
  return push_id(id);
}

absl::Status LoadedCupti::push_replay(std::uint32_t replay) {
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = collector_.id_of_replay(replay);
  }
  return push_id(id);
}

absl::Status LoadedCupti::push_id(std::uint64_t id) {
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
  ASSAY_ASSIGN_OR_RETURN(const CuptiLibrary library, load_cupti());
  ASSAY_ASSIGN_OR_RETURN(const CuptiActivityFunctions functions, find_activity_functions(library));
  auto cupti = std::make_unique<LoadedCupti>(library, functions);
  ASSAY_RETURN_IF_ERROR(cupti->start());
  return cupti;
}

}  // namespace assay::profiler
