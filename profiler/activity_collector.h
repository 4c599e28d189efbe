// Joins kernel records with the ids that were pushed around their launches, for one block of
// calls. A record counts only by its id: one from before the block, from warm-up or from a launch
// without an id has no place and adds nothing. Time in which kernels of a call overlap is the first
// one's, so that stages add up to no more than the call took. Knows nothing of CUPTI, so that
// made-up records test it.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace assay::profiler {

struct KernelRecord {
  std::uint32_t correlation_id = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

// Samples of a block; 0 stands for a call without a usable time.
struct CollectedBlock {
  std::vector<v1::StageSamples> stages;  // the arm's, "total" and "span"
  std::uint32_t num_invalid_records = 0;
  std::uint32_t num_dropped_records = 0;
  std::uint32_t num_incomplete_calls = 0;
};

class ActivityCollector {
 public:
  // Starts a block. Ids are never used twice, so that late records of an older block are told
  // apart.
  void begin(std::uint32_t num_calls, std::span<const std::string> stages);

  // What to push around the launches of a stage of a call.
  std::uint64_t id_of(std::uint32_t call, std::size_t stage) const;

  // The API call `correlation_id` was made under `external_id`.
  void add_external(std::uint32_t correlation_id, std::uint64_t external_id);
  void add_kernel(const KernelRecord& record);
  void add_dropped(std::uint64_t num_records);

  CollectedBlock finish();

 private:
  std::uint64_t first_id_ = 1;
  std::uint32_t num_calls_ = 0;
  std::vector<std::string> stages_;
  std::unordered_map<std::uint32_t, std::uint64_t> external_ids_;
  std::vector<KernelRecord> kernels_;
  std::uint64_t num_dropped_ = 0;
};

}  // namespace assay::profiler
