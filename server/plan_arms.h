// The arms of an experiment, and how they are called and timed, against what an operator and a
// device have. Errors name the field by path.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"

#include <string>

namespace assay::server {

// INVALID_ARGUMENT: `spec` has what only kinds with arms have.
absl::Status refuse_arms(const v1::ExperimentSpec& spec);

// FAILED_PRECONDITION: the device has no such launch mode or timing source.
absl::Status check_modes(const v1::ExperimentSpec& spec, const v1::Device& device);

// FAILED_PRECONDITION: the variant needs a newer device.
absl::Status check_age(const v1::Device& device,
                       const v1::VariantInfo& variant,
                       const std::string& path);

// Checks the arms for the kind, puts their values into the one spelling and adds those that the
// kind implies: a SWEEP's baseline; a CALIBRATE's candidate and workloads.
absl::Status plan_arms(const v1::OperatorInfo& info,
                       const v1::Device& device,
                       v1::ExperimentSpec& spec);

}  // namespace assay::server
