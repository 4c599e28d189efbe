// The space of a sweep: every combination of the axes' values that the restrictions let through.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/points.h"

#include "absl/status/statusor.h"

#include <span>
#include <string>
#include <vector>

namespace assay::tuning {

// Limits of one space, stated in docs/tuning.md.
inline constexpr std::size_t kMaxPoints = 1'000'000;

// In the axes' order, the last one fastest. Restrictions may name axes and `fixed` settings,
// whose values are read as source_value() says.
// INVALID_ARGUMENT names the restriction, "restrictions[1]: ..."; RESOURCE_EXHAUSTED: more than
// kMaxPoints are valid; FAILED_PRECONDITION: none is.
absl::StatusOr<PointSet> sweep_points(std::span<const v1::Axis> axes,
                                      std::span<const v1::Setting> fixed,
                                      std::span<const std::string> restrictions);

}  // namespace assay::tuning
