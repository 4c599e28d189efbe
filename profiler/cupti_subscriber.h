// The process's one subscription to CUPTI's callbacks, and what they tell of graphs and loaded
// modules. They come on any thread that calls CUDA.
#pragma once

#include "profiler/cupti_activity_functions.h"
#include "profiler/cupti_library.h"
#include "profiler/loaded_modules.h"

#include "absl/status/status.h"

#include <cupti.h>

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace assay::profiler {

class CuptiSubscriber {
 public:
  CuptiSubscriber(const CuptiLibrary& library, const CuptiActivityFunctions& functions)
      : library_(library), functions_(functions) {}

  // The callbacks know the address.
  CuptiSubscriber(const CuptiSubscriber&) = delete;
  CuptiSubscriber& operator=(const CuptiSubscriber&) = delete;

  ~CuptiSubscriber() { unsubscribe(); }

  // UNAVAILABLE when another profiler has the process.
  absl::Status subscribe();
  // Nothing is heard from then on.
  void unsubscribe();

  // As CuptiActivity says.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> take_clones();

  const LoadedModules& modules() const { return modules_; }

 private:
  static void CUPTIAPI hear(void* self,
                            CUpti_CallbackDomain domain,
                            CUpti_CallbackId id,
                            const void* data);
  void add_clone(const CUpti_GraphData& graph);

  absl::Status status_of(CUptiResult result, const char* call) const {
    return library_.status_of(result, call);
  }

  CuptiLibrary library_;
  CuptiActivityFunctions functions_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  LoadedModules modules_;
  std::mutex clones_mutex_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> clones_;  // guarded by clones_mutex_
};

}  // namespace assay::profiler
