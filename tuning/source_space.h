// The configurations of a source: which its restrictions let through, and the macros of one. `spec`
// is complete (complete_source()) and valid.
#pragma once

#include "proto/assay.pb.h"
#include "tuning/source_scope.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace assay::tuning {

// INVALID_ARGUMENT names the first restriction that does not hold. One that uses a parameter which
// the variant has not is none of its own.
absl::Status check_restrictions(const v1::SourceSpec& spec,
                                const SourceSettings& axes,
                                const v1::Arm& arm);

// The text of those that use only axes and what the variant has: its space's own.
absl::StatusOr<std::vector<std::string>> variant_restrictions(const v1::SourceSpec& spec,
                                                              const std::string& variant);

// "NAME" or "NAME=TEXT": defines of the specification, of the variant, then every parameter, of
// which true is 1, false 0 and anything else its text.
absl::StatusOr<std::vector<std::string>> source_macros(const v1::SourceSpec& spec,
                                                       const v1::Arm& arm);

}  // namespace assay::tuning
