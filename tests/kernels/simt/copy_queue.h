// A thread's asynchronous copies on the SIMT machine, in groups: a target is poison from the copy's
// issue to the wait that covers it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace assay::simt {

inline constexpr int kCopyBytes = 16;
inline constexpr std::byte kPoison{0xFF};  // a NaN in bf16 and in fp32

struct Copy {
  std::byte* target = nullptr;
  const void* source = nullptr;
  bool is_there = false;  // else zeros
};

class CopyQueue {
 public:
  void issue(const Copy& copy) {
    std::fill(copy.target, copy.target + kCopyBytes, kPoison);
    uncommitted_.push_back(copy);
  }

  void commit() { groups_.push_back(std::exchange(uncommitted_, {})); }

  // Lands all groups but the newest `pending`.
  void wait(int pending) {
    while (groups_.size() > static_cast<std::size_t>(pending)) {
      for (const Copy& copy : groups_.front()) {
        if (copy.is_there) {
          std::memcpy(copy.target, copy.source, kCopyBytes);
        } else {
          std::memset(copy.target, 0, kCopyBytes);
        }
      }
      groups_.pop_front();
    }
  }

 private:
  std::vector<Copy> uncommitted_;
  std::deque<std::vector<Copy>> groups_;
};

}  // namespace assay::simt
