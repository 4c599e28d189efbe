// The configurations of a source: which its restrictions let through, and the macros of one. `spec`
// is complete (complete_source()) and valid.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tuning/source_scope.h"
#include "tuning/space.h"

#include <string>
#include <vector>

namespace assay::tuning {

// INVALID_ARGUMENT names the first restriction that does not hold. One that uses a parameter which
// the variant has not is none of its own.
absl::Status check_restrictions(const v1::SourceSpec& spec,
                                const SourceSettings& axes,
                                const v1::Arm& arm);

// The variant's parameters in the specification's order, behind them each axis with its one value.
absl::StatusOr<SearchSpace> source_space(const v1::SourceSpec& spec,
                                         const std::string& variant,
                                         const SourceSettings& axes);

// "NAME" or "NAME=TEXT": defines of the specification, of the variant, then every parameter, of
// which true is 1, false 0 and anything else its text.
absl::StatusOr<std::vector<std::string>> source_macros(const v1::SourceSpec& spec,
                                                       const v1::Arm& arm);

}  // namespace assay::tuning
