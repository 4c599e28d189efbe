// Bits in words: what failed, where the first difference is.
#pragma once

#include "proto/assay.pb.h"

#include <string>

namespace assay::proto {

// "bits differ", "over tolerance"; empty for BITS_CHECK_UNSPECIFIED.
std::string failure_text(v1::BitsCheck check);

// "1,024 of 6,144 elements of `out` differ (ulp sized, at most 3 ulp), first at out[0, 3, 17]:
// expected 0x3f800000 (1), found 0x3f800001 (1.0000001)"; empty when nothing differs.
std::string drift_text(const v1::Drift& drift);

// The detail, with the drift behind it unless the detail already shows the first difference.
std::string detail_text(const std::string& detail, const v1::Drift& drift);

// Worst share of the tolerance, or "-" when it is not known.
std::string tolerance_text(const v1::BitsReport& report);

// Digest of the first output; empty when none was measured.
std::string output_digest(const v1::Measurement& measurement);

}  // namespace assay::proto
