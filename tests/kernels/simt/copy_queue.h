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

  void poison() const { std::fill(target, target + kCopyBytes, kPoison); }

  void land() const {
    if (is_there) {
      std::memcpy(target, source, kCopyBytes);
    } else {
      std::memset(target, 0, kCopyBytes);
    }
  }
};

class CopyQueue {
 public:
  void issue(const Copy& copy) {
    copy.poison();
    uncommitted_.push_back(copy);
  }

  void commit() { groups_.push_back(std::exchange(uncommitted_, {})); }

  // Lands all groups but the newest `pending`.
  void wait(int pending) {
    while (groups_.size() > static_cast<std::size_t>(pending)) {
      for (const Copy& copy : groups_.front()) {
        copy.land();
      }
      groups_.pop_front();
    }
  }

  // All copies that have not landed: somebody else lands them.
  std::vector<Copy> take() {
    std::vector<Copy> copies;
    for (const std::vector<Copy>& group : std::exchange(groups_, {})) {
      copies.insert(copies.end(), group.begin(), group.end());
    }
    copies.insert(copies.end(), uncommitted_.begin(), uncommitted_.end());
    uncommitted_.clear();
    return copies;
  }

 private:
  std::vector<Copy> uncommitted_;
  std::deque<std::vector<Copy>> groups_;
};

}  // namespace assay::simt
