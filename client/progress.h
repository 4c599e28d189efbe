// How far an experiment is: one line that is drawn again on a terminal, plain lines elsewhere.
#pragma once

#include "proto/assay.pb.h"

#include <ostream>
#include <string>

namespace assay::client {

// "experiment 7: running, 3 of 8 configurations, about 12 s left".
std::string progress_text(const v1::Experiment& experiment);

// "[######..............] 3 of 8 configurations, about 12 s left".
std::string progress_bar(const v1::Experiment& experiment);

class Progress {
 public:
  Progress(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}

  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Plain lines come only when the state, the place in the queue or the number of finished
  // configurations changes.
  void show(const v1::Experiment& experiment);

 private:
  std::ostream& out_;
  bool is_terminal_;
  std::string shown_;
};

}  // namespace assay::client
