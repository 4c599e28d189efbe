#include "server/measurement_parts.h"

#include <algorithm>

namespace assay::server {

void append(v1::Measurement& whole, const v1::Measurement& part) {
  whole.mutable_blocks()->MergeFrom(part.blocks());
  for (const v1::StageSamples& from : part.stages()) {
    const auto found = std::ranges::find_if(
        whole.stages(), [&](const v1::StageSamples& to) { return to.stage() == from.stage(); });
    if (found == whole.stages().end()) {
      *whole.add_stages() = from;
      continue;
    }
    const int place = static_cast<int>(found - whole.stages().begin());
    whole.mutable_stages(place)->mutable_samples_ns()->MergeFrom(from.samples_ns());
  }
  whole.set_num_invalid_records(whole.num_invalid_records() + part.num_invalid_records());
  whole.set_num_dropped_records(whole.num_dropped_records() + part.num_dropped_records());
  if (part.bits().failed() != v1::BITS_CHECK_UNSPECIFIED) {
    // What the close found stands beside the tolerance that the open measured.
    v1::BitsReport& bits = *whole.mutable_bits();
    bits.set_failed(part.bits().failed());
    bits.set_detail(part.bits().detail());
    if (part.bits().has_drift()) {
      *bits.mutable_drift() = part.bits().drift();
    }
  }
  whole.mutable_event_stages()->MergeFrom(part.event_stages());
  whole.mutable_activity_stages()->MergeFrom(part.activity_stages());
  whole.mutable_traced_blocks()->MergeFrom(part.traced_blocks());
  whole.mutable_counters()->MergeFrom(part.counters());
  if (!part.counters_missing().empty()) {
    whole.set_counters_missing(part.counters_missing());
  }
}

void append_both(v1::Configuration& configuration,
                 const v1::Measurement& baseline,
                 const v1::Measurement& candidate) {
  append(*configuration.mutable_baseline(), baseline);
  if (configuration.has_candidate_arm()) {
    append(*configuration.mutable_candidate(), candidate);
  }
}

std::uint32_t num_rounds(const v1::Configuration& configuration) {
  std::uint32_t rounds = 0;
  for (const v1::Block& block : configuration.baseline().blocks()) {
    rounds = std::max(rounds, block.round() + 1);
  }
  return rounds;
}

}  // namespace assay::server
