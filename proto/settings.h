// What rows of a table have in common, and what tells them apart.
#pragma once

#include "proto/assay.pb.h"

#include <set>
#include <string>
#include <vector>

namespace assay::proto {

// Names and values of one row, in order. An empty name stands for a bare value.
using Settings = std::vector<v1::Setting>;

Settings settings_of(const v1::Workload& workload);
Settings settings_of(const v1::Arm& arm);

class Varying {
 public:
  explicit Varying(const std::vector<Settings>& rows);

  bool any() const { return !names_.empty(); }

  // "kv=int8, width=2051" of what is equal in all rows; empty when nothing is.
  std::string constant_text() const;

  // "n_q=1" of what is not.
  std::string text_of(const Settings& row) const;

 private:
  std::set<std::string> names_;
  Settings constant_;
};

}  // namespace assay::proto
