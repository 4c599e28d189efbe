// The points of a recording: the values of each parameter that its rows have, numbers in ascending
// order, anything else in the file's.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/points.h"

#include "absl/status/statusor.h"

#include <span>

namespace assay::tuning {

// Point i is row i. INVALID_ARGUMENT: no row or no parameter, a row of another number of values, or
// two rows with the same values; it names the rows.
absl::StatusOr<PointSet> points_of(const v1::Recording& recording,
                                   std::span<const v1::RecordedRow> rows);

}  // namespace assay::tuning
