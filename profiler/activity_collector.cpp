#include "profiler/activity_collector.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace assay::profiler {
namespace {

// What a call's records say so far.
struct CallTimes {
  std::vector<std::int64_t> stage_ns;
  std::vector<bool> has_stage;
  std::uint64_t start_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end_ns = 0;
  bool is_spoilt = false;
};

}  // namespace

void ActivityCollector::begin(std::uint32_t num_calls, std::span<const std::string> stages) {
  first_id_ += std::uint64_t{num_calls_} * stages_.size();
  num_calls_ = num_calls;
  stages_.assign(stages.begin(), stages.end());
  external_ids_.clear();
  kernels_.clear();
  num_dropped_ = 0;
}

std::uint64_t ActivityCollector::id_of(std::uint32_t call, std::size_t stage) const {
  return first_id_ + std::uint64_t{call} * stages_.size() + stage;
}

void ActivityCollector::add_external(std::uint32_t correlation_id, std::uint64_t external_id) {
  external_ids_[correlation_id] = external_id;
}

void ActivityCollector::add_kernel(const KernelRecord& record) {
  kernels_.push_back(record);
}

void ActivityCollector::add_dropped(std::uint64_t num_records) {
  num_dropped_ += num_records;
}

CollectedBlock ActivityCollector::finish() {
  CollectedBlock block;
  block.num_dropped_records = static_cast<std::uint32_t>(num_dropped_);
  std::vector<CallTimes> calls(num_calls_);
  for (CallTimes& call : calls) {
    call.stage_ns.resize(stages_.size());
    call.has_stage.resize(stages_.size());
  }
  std::ranges::stable_sort(kernels_, {}, &KernelRecord::start_ns);
  const std::uint64_t end_id = first_id_ + std::uint64_t{num_calls_} * stages_.size();
  for (const KernelRecord& record : kernels_) {
    const auto found = external_ids_.find(record.correlation_id);
    if (found == external_ids_.end() || found->second < first_id_ || found->second >= end_id) {
      continue;
    }
    const std::uint64_t place = found->second - first_id_;
    CallTimes& call = calls[place / stages_.size()];
    if (record.start_ns == 0 || record.end_ns <= record.start_ns) {
      ++block.num_invalid_records;
      call.is_spoilt = true;
      continue;
    }
    const std::size_t stage = place % stages_.size();
    const std::uint64_t alone_from =
        std::min(std::max(record.start_ns, call.end_ns), record.end_ns);
    call.stage_ns[stage] += static_cast<std::int64_t>(record.end_ns - alone_from);
    call.has_stage[stage] = true;
    call.start_ns = std::min(call.start_ns, record.start_ns);
    call.end_ns = std::max(call.end_ns, record.end_ns);
  }

  block.stages.resize(stages_.size() + 2);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    block.stages[stage].set_stage(stages_[stage]);
  }
  v1::StageSamples& total = block.stages[stages_.size()];
  v1::StageSamples& span = block.stages[stages_.size() + 1];
  total.set_stage("total");
  span.set_stage("span");
  for (const CallTimes& call : calls) {
    const bool is_whole = !call.is_spoilt && std::ranges::all_of(call.has_stage, std::identity());
    block.num_incomplete_calls += is_whole ? 0 : 1;
    std::int64_t sum_ns = 0;
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      block.stages[stage].add_samples_ns(is_whole ? call.stage_ns[stage] : 0);
      sum_ns += call.stage_ns[stage];
    }
    total.add_samples_ns(is_whole ? sum_ns : 0);
    span.add_samples_ns(is_whole ? static_cast<std::int64_t>(call.end_ns - call.start_ns) : 0);
  }
  kernels_.clear();
  external_ids_.clear();
  return block;
}

}  // namespace assay::profiler
