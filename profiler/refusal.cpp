#include "profiler/refusal.h"

#include "absl/strings/cord.h"

namespace assay::profiler {
namespace {

constexpr const char* kPayload = "assay.refused";

}  // namespace

absl::Status refused(const absl::Status& status) {
  absl::Status marked = status;
  if (!marked.ok()) {
    marked.SetPayload(kPayload, absl::Cord());
  }
  return marked;
}

bool is_refused(const absl::Status& status) {
  return status.GetPayload(kPayload).has_value();
}

}  // namespace assay::profiler
