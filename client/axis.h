// The axis syntax of the command line (nvbench's):
//   kv=int8            one value
//   kv=[fp16,int8]     a list
//   n_q=[1:4]          1, 2, 3, 4
//   n_q=[1:9:2]        1, 3, 5, 7, 9
//   slots[pow2]=[0:4]  1, 2, 4, 8, 16
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

// INVALID_ARGUMENT gives the position (1 is the first character), what is wrong there and the form.
absl::StatusOr<v1::Axis> parse_axis(std::string_view text);

// INVALID_ARGUMENT also for an axis that is given twice.
absl::StatusOr<std::vector<v1::Axis>> parse_axes(const std::vector<std::string>& texts);

}  // namespace assay::client
