// The arms of an experiment, and what tells its rows apart.
#pragma once

#include "client/settings.h"
#include "client/table.h"
#include "proto/assay.pb.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace assay::client {

enum class Role { kBaseline, kCandidate };

inline constexpr std::array kRoles = {Role::kBaseline, Role::kCandidate};

const v1::Measurement& measurement_of(const v1::Configuration& configuration, Role role);

// "baseline" or "candidate".
const char* role_name(Role role);

// Of a stage in the newest verdict; 0: none.
std::int64_t stage_median_ns(const v1::Configuration& configuration,
                             Role role,
                             std::string_view stage);

class Variation {
 public:
  explicit Variation(const v1::Experiment& experiment);

  const Varying& workloads() const { return workloads_; }

  const Varying& baselines() const { return baselines_; }

  const Varying& candidates() const { return candidates_; }

  std::string workload_text(const v1::Configuration& configuration) const;
  std::string arm_text(const v1::Configuration& configuration, Role role) const;

  // "A", "B" (or "arm") and "workload", as far as they are equal in all rows.
  std::vector<std::pair<std::string, std::string>> constant_facts() const;

  // A table with columns for what differs, then `columns`; cells() begin a row of it.
  Table table(const std::vector<Column>& columns) const;
  std::vector<std::string> cells(const v1::Configuration& configuration, Role role) const;

 private:
  bool judged_;
  Varying workloads_;
  Varying baselines_;
  Varying candidates_;
};

}  // namespace assay::client
