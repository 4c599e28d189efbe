// Joins kernel records with the ids that were pushed around their launches, for one block of
// calls. A record counts only by its id: one from before the block, from warm-up or from a launch
// without an id has no place and adds nothing. Kernels of a graph share the id of its replay and
// count by their node; a node without a place, as one that flushes a cache, adds nothing. Time in
// which kernels of a call overlap is the first one's, so that stages add up to no more than the
// call took. Knows nothing of CUPTI, so that made-up records test it.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::profiler {

struct KernelRecord {
  std::uint32_t correlation_id = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t graph_node_id = 0;  // 0: launched by itself
  std::string name = {};            // where spans are kept
  std::uint32_t stream_id = 0;
};

// What a node of a graph is a part of.
struct NodePlace {
  std::uint32_t call = 0;  // of the graph's
  std::size_t stage = 0;
};

using NodePlaces = std::unordered_map<std::uint64_t, NodePlace>;

// Samples of a block; 0 stands for a call without a usable time.
struct CollectedBlock {
  std::vector<v1::StageSamples> stages;  // the arm's, "total" and "span"
  std::uint32_t num_invalid_records = 0;
  std::uint32_t num_dropped_records = 0;
  std::uint32_t num_incomplete_calls = 0;
  std::uint32_t num_kernels = 0;      // records with a place
  std::uint32_t num_elsewhere = 0;    // on other streams than the expected one, by any thread
  std::vector<v1::KernelSpan> spans;  // where they are kept, in order of their start
};

class ActivityCollector {
 public:
  // Where kernels of calls run that are no part of a graph; from then on others are counted.
  void expect_stream(std::uint32_t stream_id) { stream_id_ = stream_id; }

  // Starts a block. Ids are never used twice, so that late records of an older block are told
  // apart.
  void begin(std::uint32_t num_calls, std::span<const std::string> stages);

  // The calls that follow are replays of a graph of so many calls. `places` outlives the block.
  void expect_replays(std::uint32_t calls_per_replay, const NodePlaces& places);

  // Spans of the block's kernels are kept, by time since `start_ns`.
  void keep_spans(std::uint64_t start_ns);

  bool keeps_spans() const { return keeps_spans_; }

  // What to push around the launches of a stage of a call.
  std::uint64_t id_of(std::uint32_t call, std::size_t stage) const;
  // What to push around the launch of a graph.
  std::uint64_t id_of_replay(std::uint32_t replay) const;

  // The API call `correlation_id` was made under `external_id`.
  void add_external(std::uint32_t correlation_id, std::uint64_t external_id);
  void add_kernel(KernelRecord record);
  void add_dropped(std::uint64_t num_records);

  CollectedBlock finish();

 private:
  struct Place {
    bool is_known = false;
    std::uint32_t call = 0;
    std::size_t stage = 0;
  };

  bool is_elsewhere(const KernelRecord& record) const;
  Place place_of(const KernelRecord& record) const;

  std::optional<std::uint32_t> stream_id_;
  std::uint64_t first_id_ = 1;
  std::uint32_t num_calls_ = 0;
  std::vector<std::string> stages_;
  std::uint32_t calls_per_replay_ = 0;  // 0: no graph
  const NodePlaces* places_ = nullptr;
  bool keeps_spans_ = false;
  std::uint64_t start_ns_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> external_ids_;
  std::vector<KernelRecord> kernels_;
  std::uint64_t num_dropped_ = 0;
};

}  // namespace assay::profiler
