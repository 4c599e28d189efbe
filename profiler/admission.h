// Lets a device in for timing once its clock is steady: the last blocks of the warm-up ran at one
// clock and none was held back by heat or hardware, or the time for waiting is used up.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <deque>

namespace assay::profiler {

inline constexpr std::int64_t kDefaultAdmissionNs = 2'000'000'000;

class Admission {
 public:
  // Waits until `end_ns` at most.
  explicit Admission(std::int64_t end_ns) : end_ns_(end_ns) {}

  void add(const v1::Block& block);

  // The clock is steady, or the device tells none.
  bool is_stable() const;

  bool is_over(std::int64_t now_ns) const { return is_stable() || now_ns >= end_ns_; }

  // `waited_ns`: beyond the warm-up.
  v1::Admission account(std::int64_t waited_ns) const;

 private:
  std::int64_t end_ns_;
  std::deque<v1::Block> last_;  // without times
};

}  // namespace assay::profiler
