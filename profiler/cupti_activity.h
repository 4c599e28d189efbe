// Feeds CUPTI's kernel records and external ids to a collector, and keeps what its callbacks tell
// of graphs and loaded modules. The library is loaded at run time, so that a host without it still
// starts. CUPTI allows one user a process, and calls back from its own threads and from inside its
// own functions.
#pragma once

#include "profiler/activity_collector.h"
#include "profiler/loaded_modules.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::profiler {

class CuptiActivity {
 public:
  // UNAVAILABLE says why there is none, with CUPTI's code: another profiler may hold it. Call it
  // before the CUDA context is made.
  static absl::StatusOr<std::unique_ptr<CuptiActivity>> open();

  // The callbacks know the address.
  CuptiActivity(const CuptiActivity&) = delete;
  CuptiActivity& operator=(const CuptiActivity&) = delete;
  virtual ~CuptiActivity() = default;

  // The stream that calls are given; kernels elsewhere are counted from then on.
  virtual absl::Status expect_stream(cudaStream_t stream) = 0;

  // Throws away what is left from before and starts recording a block. With `keeps_spans` each
  // kernel is kept too, by the time since begin() returned.
  virtual absl::Status begin(std::uint32_t num_calls,
                             std::span<const std::string> stages,
                             bool keeps_spans) = 0;
  // As begin(), of replays of a graph. `places` outlives the block.
  virtual absl::Status begin_replays(std::uint32_t num_replays,
                                     std::uint32_t calls_per_replay,
                                     std::span<const std::string> stages,
                                     const NodePlaces& places,
                                     bool keeps_spans) = 0;
  // Around the launches of one stage of one call.
  virtual absl::Status push(std::uint32_t call, std::size_t stage) = 0;
  // Around the launch of a graph.
  virtual absl::Status push_replay(std::uint32_t replay) = 0;
  virtual absl::Status pop() = 0;
  // After the device is idle: what was recorded since begin().
  virtual absl::StatusOr<CollectedBlock> finish() = 0;
  // Switches recording off until the next begin(), for what must not be disturbed.
  virtual absl::Status pause() = 0;

  // What kernel records call the node, as long as its graph is not instantiated.
  virtual absl::StatusOr<std::uint64_t> node_id(cudaGraphNode_t node) const = 0;
  // Since it was last asked: the nodes that instantiations made, and which node each was made from.
  virtual std::vector<std::pair<std::uint64_t, std::uint64_t>> take_clones() = 0;

  // The images of the modules that were loaded so far.
  virtual const LoadedModules& modules() const = 0;

  virtual std::string version() const = 0;

 protected:
  CuptiActivity() = default;
};

}  // namespace assay::profiler
