// Where a call and its stages stand under the device's ceilings: how much arithmetic they do for
// each byte, how fast, and what bounds them.
#pragma once

#include "client/variation.h"
#include "proto/assay.pb.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::client {

struct RooflinePoint {
  std::string stage;
  bool is_counted = false;  // by hardware; else the least that the workload asks for
  std::optional<double> bytes;
  std::optional<double> flops;
  std::int64_t median_ns = 0;  // of the timed run; 0: the stage has no time of its own
  std::string bound;           // the ceiling that is met first; empty: unknown
  double bound_value = 0;      // in the ceiling's own unit
  double attainable = 0;       // flop/s under that ceiling; 0: unknown, or no arithmetic
  double share = 0;            // of that ceiling; 0: unknown

  // Nothing where a part of it is unknown.
  std::optional<double> flop_per_byte() const;
  std::optional<double> flops_per_second() const;
  std::optional<double> bytes_per_second() const;
};

// Stages as they were counted, then the call, "total", as the workload asks for it. Nothing for a
// configuration that shows no times.
std::vector<RooflinePoint> roofline(const v1::Experiment& experiment,
                                    const v1::Configuration& configuration,
                                    Role role);

}  // namespace assay::client
