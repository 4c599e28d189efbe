// The space of a sweep: every combination of the axes' values that the restrictions let through.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"
#include "tuning/points.h"
#include "tuning/value.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tuning {

// Limits of one space, stated in docs/tuning.md.
inline constexpr std::size_t kMaxPoints = 1'000'000;

// An integer, a number, true or false, or else text.
Value value_of_text(std::string_view text);

// In the axes' order, the last one fastest. Restrictions may name axes and `fixed` settings.
// INVALID_ARGUMENT names the restriction, "restrictions[1]: ..."; RESOURCE_EXHAUSTED: more than
// kMaxPoints are valid; FAILED_PRECONDITION: none is.
absl::StatusOr<PointSet> sweep_points(std::span<const v1::Axis> axes,
                                      std::span<const v1::Setting> fixed,
                                      std::span<const std::string> restrictions);

}  // namespace assay::tuning
