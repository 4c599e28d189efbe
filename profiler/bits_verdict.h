// The bits of a configuration, judged in the order in which they are asked. The runner's own report
// is not believed against the digests beside it.
#pragma once

#include "profiler/verdict.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::profiler {

struct BitsRuling {
  v1::BitsCheck rejected_by = v1::BITS_CHECK_UNSPECIFIED;  // unspecified: nothing failed
  bool rejected_baseline = false;
  bool bits_equal = false;  // every tensor that both arms have, and at least one
  std::string reason;
};

BitsRuling judge_bits(const v1::Configuration& configuration, const JudgeOptions& options);

}  // namespace assay::profiler
