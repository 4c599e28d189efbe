#include "profiler/activity_collector.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace assay::profiler {
namespace {

// What a call's records say so far.
struct CallTimes {
  std::vector<std::int64_t> stage_ns;
  std::vector<std::uint32_t> num_kernels;  // by stage
  std::uint64_t start_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end_ns = 0;
  bool is_spoilt = false;
};

// How many kernels each stage of a call has: at least one, and as many as the call with the most,
// since a call with fewer has lost some.
std::vector<std::uint32_t> kernels_of_a_call(const std::vector<CallTimes>& calls,
                                             std::size_t num_stages) {
  std::vector<std::uint32_t> most(num_stages, 1);
  for (const CallTimes& call : calls) {
    for (std::size_t stage = 0; stage < num_stages; ++stage) {
      most[stage] = std::max(most[stage], call.num_kernels[stage]);
    }
  }
  return most;
}

}  // namespace

void ActivityCollector::begin(std::uint32_t num_calls, std::span<const std::string> stages) {
  first_id_ += std::uint64_t{num_calls_} * stages_.size();
  num_calls_ = num_calls;
  stages_.assign(stages.begin(), stages.end());
  calls_per_replay_ = 0;
  places_ = nullptr;
  keeps_spans_ = false;
  external_ids_.clear();
  kernels_.clear();
  num_dropped_ = 0;
}

void ActivityCollector::expect_replays(std::uint32_t calls_per_replay, const NodePlaces& places) {
  calls_per_replay_ = calls_per_replay;
  places_ = &places;
}

void ActivityCollector::keep_spans(std::uint64_t start_ns) {
  keeps_spans_ = true;
  start_ns_ = start_ns;
}

std::uint64_t ActivityCollector::id_of(std::uint32_t call, std::size_t stage) const {
  return first_id_ + std::uint64_t{call} * stages_.size() + stage;
}

std::uint64_t ActivityCollector::id_of_replay(std::uint32_t replay) const {
  return id_of(replay * calls_per_replay_, 0);
}

ActivityCollector::Place ActivityCollector::place_of(const KernelRecord& record) const {
  const std::uint64_t end_id = first_id_ + std::uint64_t{num_calls_} * stages_.size();
  const auto found = external_ids_.find(record.correlation_id);
  if (found == external_ids_.end() || found->second < first_id_ || found->second >= end_id) {
    return {};
  }
  const std::uint64_t offset = found->second - first_id_;
  const auto call = static_cast<std::uint32_t>(offset / stages_.size());
  if (calls_per_replay_ == 0) {
    return {true, call, static_cast<std::size_t>(offset % stages_.size())};
  }
  const auto node = places_->find(record.graph_node_id);
  if (node == places_->end()) {
    return {};
  }
  return {true, call + node->second.call, node->second.stage};
}

// Nodes of a graph run where the driver puts them.
bool ActivityCollector::is_elsewhere(const KernelRecord& record) const {
  return stream_id_.has_value() && record.graph_node_id == 0 && record.stream_id != *stream_id_;
}

void ActivityCollector::add_external(std::uint32_t correlation_id, std::uint64_t external_id) {
  external_ids_[correlation_id] = external_id;
}

void ActivityCollector::add_kernel(KernelRecord record) {
  kernels_.push_back(std::move(record));
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
    call.num_kernels.resize(stages_.size());
  }
  std::ranges::stable_sort(kernels_, {}, &KernelRecord::start_ns);
  for (const KernelRecord& record : kernels_) {
    block.num_elsewhere += is_elsewhere(record) ? 1 : 0;
    const Place place = place_of(record);
    if (!place.is_known || place.call >= calls.size()) {
      continue;
    }
    ++block.num_kernels;
    CallTimes& call = calls[place.call];
    if (record.start_ns == 0 || record.end_ns <= record.start_ns) {
      ++block.num_invalid_records;
      call.is_spoilt = true;
      continue;
    }
    const std::uint64_t alone_from =
        std::min(std::max(record.start_ns, call.end_ns), record.end_ns);
    call.stage_ns[place.stage] += static_cast<std::int64_t>(record.end_ns - alone_from);
    ++call.num_kernels[place.stage];
    if (keeps_spans_) {
      v1::KernelSpan& span = block.spans.emplace_back();
      span.set_stage(stages_[place.stage]);
      span.set_kernel(record.name);
      span.set_call(place.call);
      span.set_start_ns(static_cast<std::int64_t>(record.start_ns - start_ns_));
      span.set_end_ns(static_cast<std::int64_t>(record.end_ns - start_ns_));
      span.set_graph_node_id(record.graph_node_id);
    }
    call.start_ns = std::min(call.start_ns, record.start_ns);
    call.end_ns = std::max(call.end_ns, record.end_ns);
  }

  const std::vector<std::uint32_t> whole = kernels_of_a_call(calls, stages_.size());
  block.stages.resize(stages_.size() + 2);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    block.stages[stage].set_stage(stages_[stage]);
  }
  v1::StageSamples& total = block.stages[stages_.size()];
  v1::StageSamples& span = block.stages[stages_.size() + 1];
  total.set_stage("total");
  span.set_stage("span");
  for (const CallTimes& call : calls) {
    const bool is_whole = !call.is_spoilt && call.num_kernels == whole;
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
