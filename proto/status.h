// Early return for absl::Status, the project's one error type.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <string_view>
#include <utility>

#define ASSAY_CONCAT_INNER(a, b) a##b
#define ASSAY_CONCAT(a, b) ASSAY_CONCAT_INNER(a, b)

// Returns the status of `expression` from the enclosing function unless it is OK.
#define ASSAY_RETURN_IF_ERROR(expression)                               \
  do {                                                                  \
    if (absl::Status assay_status = (expression); !assay_status.ok()) { \
      return assay_status;                                              \
    }                                                                   \
  } while (false)

// Declares or assigns `target` from a StatusOr, or returns its status.
#define ASSAY_ASSIGN_OR_RETURN(target, expression)              \
  auto ASSAY_CONCAT(assay_status_or_, __LINE__) = (expression); \
  if (!ASSAY_CONCAT(assay_status_or_, __LINE__).ok()) {         \
    return ASSAY_CONCAT(assay_status_or_, __LINE__).status();   \
  }                                                             \
  target = *std::move(ASSAY_CONCAT(assay_status_or_, __LINE__))

namespace assay::proto {

// The same code with `context` before the message, "context: message".
absl::Status annotate(const absl::Status& status, std::string_view context);

}  // namespace assay::proto
