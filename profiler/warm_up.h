// Warm-up by wall time and stability, not by count: it is over when two batches in a row agree
// after the least time, or at the most time.
#pragma once

#include "profiler/device.h"

#include <cstdint>
#include <string>

namespace assay::profiler {

// The median call of a block; 0 where none has a time.
std::int64_t median_call_ns(const BlockTimes& times);

class WarmUp {
 public:
  WarmUp(std::int64_t least_ns, std::int64_t most_ns, std::int64_t now_ns)
      : least_ns_(least_ns), most_ns_(most_ns), start_ns_(now_ns), end_ns_(now_ns) {}

  bool is_done(std::int64_t now_ns) const;
  // Calls of the next batch: one at first, then about a quarter of the least time.
  std::uint32_t next_calls() const;
  void add(const BlockTimes& times, std::int64_t now_ns);

  // The median of the last batch; 0 before the first.
  std::int64_t call_ns() const { return call_ns_; }

  // "104 calls in 51 ms, stable to 1.2 %"
  std::string account() const;

 private:
  std::int64_t least_ns_;
  std::int64_t most_ns_;
  std::int64_t start_ns_;
  std::int64_t end_ns_;
  std::int64_t call_ns_ = 0;
  std::int64_t batch_call_ns_ = 0;  // wall time per call of the last batch
  std::uint64_t num_calls_ = 0;
  double change_ = 1.0;
  int num_batches_ = 0;
};

}  // namespace assay::profiler
