// Data by formula, as T1 files have it.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>

namespace assay::client {

// The values of an expression over `i`, for each i below `num`, as elements of `dtype`
// (tuning/source_type.h). Errors name `field` and i. RESOURCE_EXHAUSTED: more than 4,194,304
// elements, or 500,000,000 steps.
absl::StatusOr<std::string> generated_bytes(const std::string& formula_text,
                                            const std::string& field,
                                            const std::string& dtype,
                                            std::int64_t num);

}  // namespace assay::client
