#include "profiler/failure_class.h"

#include "absl/strings/cord.h"

#include <string>

namespace assay::profiler {
namespace {

constexpr const char* kPayload = "assay.failure";

}  // namespace

absl::Status with_failure(const absl::Status& status, v1::FailureClass failure) {
  absl::Status marked = status;
  if (!marked.ok()) {
    marked.SetPayload(kPayload, absl::Cord(v1::FailureClass_Name(failure)));
  }
  return marked;
}

v1::FailureClass failure_of(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  v1::FailureClass failure = v1::FAILURE_CLASS_UNSPECIFIED;
  if (payload.has_value()) {
    v1::FailureClass_Parse(std::string(*payload), &failure);
  }
  return failure;
}

}  // namespace assay::profiler
