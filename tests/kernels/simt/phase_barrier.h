// A barrier in shared memory that counts arrivals and bytes on the SIMT machine. What is on its way
// to it lands only when somebody waits and nothing else is missing: then arrivals behind copies
// first, then copies in the order of their issue, until the bytes are those that were expected.
#pragma once

#include "tests/kernels/simt/copy_queue.h"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace assay::simt {

class PhaseBarrier {
 public:
  explicit PhaseBarrier(int arrivals) : arrivals_(arrivals), missing_(arrivals) {}

  // False: the phase has no arrival left.
  bool arrive() {
    if (missing_ == 0) {
      return false;
    }
    --missing_;
    end_if_complete();
    return true;
  }

  void expect(std::int64_t bytes) { bytes_ += bytes; }

  // Arrives once `copies`, which were issued, have landed.
  void arrive_behind(std::vector<Copy> copies) { behind_copies_.push_back(std::move(copies)); }

  void copy(const Copy& copy) {
    copy.poison();
    counted_.push_back(copy);
  }

  // Whether the last phase that ended is `parity`, after what may land has.
  bool has_ended(int parity) {
    if (phase_ % 2 == parity && missing_ == std::ssize(behind_copies_)) {
      land();
    }
    return phase_ % 2 != parity;
  }

  bool is_idle() const { return counted_.empty() && behind_copies_.empty(); }

 private:
  void land() {
    for (const std::vector<Copy>& copies : std::exchange(behind_copies_, {})) {
      for (const Copy& copy : copies) {
        copy.land();
      }
      --missing_;
    }
    for (; bytes_ > 0 && !counted_.empty(); counted_.pop_front()) {
      counted_.front().land();
      bytes_ -= kCopyBytes;
    }
    end_if_complete();
  }

  void end_if_complete() {
    if (missing_ == 0 && bytes_ == 0) {
      ++phase_;
      missing_ = arrivals_;
    }
  }

  int arrivals_;
  std::int64_t missing_;
  std::int64_t bytes_ = 0;  // that the phase still expects
  std::int64_t phase_ = 0;
  std::vector<std::vector<Copy>> behind_copies_;
  std::deque<Copy> counted_;
};

}  // namespace assay::simt
