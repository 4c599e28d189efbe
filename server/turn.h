// Work of which there is one at a time: of whoever is first, until it ends.
#pragma once

#include <atomic>

namespace assay::server {

class Turn {
 public:
  explicit Turn(std::atomic_flag& flag) : flag_(flag), is_mine_(!flag.test_and_set()) {}

  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  ~Turn() {
    if (is_mine_) {
      flag_.clear();
    }
  }

  bool is_mine() const { return is_mine_; }

 private:
  std::atomic_flag& flag_;
  const bool is_mine_;
};

}  // namespace assay::server
