#include "proto/bits_text.h"

#include "proto/numbers.h"
#include "proto/text.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include <cmath>

namespace assay::proto {

std::string failure_text(v1::BitsCheck check) {
  switch (check) {
    case v1::BITS_FINISHED:
      return "did not finish";
    case v1::BITS_WRITTEN:
      return "not written";
    case v1::BITS_INPUTS:
      return "inputs changed";
    case v1::BITS_REPEATABLE:
      return "not repeatable";
    case v1::BITS_EQUAL:
      return "bits differ";
    case v1::BITS_GOLDEN:
      return "golden differs";
    case v1::BITS_TOLERANCE:
      return "over tolerance";
    case v1::BITS_TIMED_LAUNCH:
      return "timed launch differs";
    default:
      return "";
  }
}

std::string drift_text(const v1::Drift& drift) {
  if (drift.num_differing() == 0) {
    return "";
  }
  std::string size = spoken(v1::DriftClass_Name(drift.drift_class()));
  if (drift.max_ulp() > 0) {
    absl::StrAppend(
        &size, ", at most ", with_commas(static_cast<std::int64_t>(drift.max_ulp())), " ulp");
  }
  return absl::StrCat(with_commas(drift.num_differing()),
                      " of ",
                      with_commas(drift.num_elements()),
                      " elements of `",
                      drift.tensor(),
                      "` differ (",
                      size,
                      "), first at ",
                      drift.tensor(),
                      "[",
                      absl::StrJoin(drift.first_index(), ", "),
                      "]: expected ",
                      drift.expected_bits(),
                      " (",
                      drift.expected_value(),
                      "), found ",
                      drift.found_bits(),
                      " (",
                      drift.found_value(),
                      ")");
}

std::string detail_text(const std::string& detail, const v1::Drift& drift) {
  const std::string text = drift_text(drift);
  if (text.empty() ||
      (!drift.found_bits().empty() && absl::StrContains(detail, drift.found_bits()))) {
    return detail;
  }
  return absl::StrCat(detail, detail.empty() ? "" : "; ", text);
}

std::string tolerance_text(const v1::BitsReport& report) {
  if (!report.tolerance_known() || !std::isfinite(report.tolerance_used())) {
    return "-";
  }
  return absl::StrFormat("%.3g", report.tolerance_used());
}

std::string output_digest(const v1::Measurement& measurement) {
  return measurement.outputs().empty() ? "" : measurement.outputs(0).digest();
}

}  // namespace assay::proto
