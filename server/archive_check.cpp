#include "server/archive_check.h"

#include "proto/status.h"
#include "server/field_errors.h"
#include "server/plan.h"
#include "server/scheduler.h"

#include "absl/strings/str_cat.h"

#include <string>
#include <string_view>
#include <utility>

namespace assay::server {
namespace {

static_assert(kMaxArchivedRequestIdBytes > kMaxRequestIdBytes);

// What a Submit is held against, and no more: which names there are, another daemon knew.
absl::Status check_as_request(const v1::ExperimentSpec& spec) {
  v1::SubmitRequest request;
  request.set_request_id("archived");
  *request.mutable_spec() = spec;
  request.mutable_spec()->clear_confirms_regression_id();
  return check_request(request);
}

absl::Status check_parts(const v1::ExperimentSpec& spec) {
  if (spec.kind() == v1::BENCH) {
    return absl::OkStatus();
  }
  if (spec.operator_name().empty()) {
    return refuse("spec.operator_name", "missing");
  }
  const bool needs_baseline =
      spec.kind() == v1::COMPARE || spec.kind() == v1::MEASURE || spec.kind() == v1::CALIBRATE;
  if (needs_baseline && spec.baseline().variant().empty()) {
    return refuse("spec.baseline.variant", "missing");
  }
  if (spec.kind() == v1::COMPARE && spec.candidates().empty()) {
    return refuse("spec.candidates", "a COMPARE needs at least one");
  }
  return absl::OkStatus();
}

absl::Status check_samples(std::string_view field,
                           const google::protobuf::RepeatedPtrField<v1::StageSamples>& stages) {
  for (int i = 0; i < stages.size(); ++i) {
    for (int k = 0; k < stages[i].samples_ns_size(); ++k) {
      const std::int64_t sample_ns = stages[i].samples_ns(k);
      if (sample_ns < 0 || sample_ns > kMaxDurationNs) {
        return refuse(absl::StrCat(std::string(field), "[", i, "].samples_ns[", k, "]"),
                      "must be in [0, 86,400,000,000,000]");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status check_archived(const v1::Experiment& experiment) {
  const std::size_t num_bytes = experiment.request_id().size();
  if (num_bytes == 0 || num_bytes > kMaxArchivedRequestIdBytes) {
    return refuse("request_id", "must be 1 to 145 bytes");
  }
  if (!is_final(experiment.state())) {
    return refuse("state", "must be a final one");
  }
  for (const auto& [field, time_ns] : {std::pair("submitted_ns", experiment.submitted_ns()),
                                       std::pair("started_ns", experiment.started_ns()),
                                       std::pair("finished_ns", experiment.finished_ns())}) {
    if (time_ns < 0) {
      return refuse(field, "must not be negative");
    }
  }
  if (experiment.configurations_size() > 0) {
    return refuse("configurations", "come in entries of their own");
  }
  ASSAY_RETURN_IF_ERROR(check_as_request(experiment.spec()));
  return check_parts(experiment.spec());
}

absl::Status check_archived(const v1::Configuration& configuration) {
  for (const auto& [side, measurement] : {std::pair("baseline", &configuration.baseline()),
                                          std::pair("candidate", &configuration.candidate())}) {
    for (const auto& [pass, stages] :
         {std::pair("stages", &measurement->stages()),
          std::pair("event_stages", &measurement->event_stages()),
          std::pair("activity_stages", &measurement->activity_stages())}) {
      ASSAY_RETURN_IF_ERROR(check_samples(absl::StrCat(side, ".", pass), *stages));
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::server
