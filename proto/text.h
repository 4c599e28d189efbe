// The canonical text of workloads and arms: keys of goldens and what people read.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::proto {

// "kv=int8,n_q=1,width=2051,seed=7": every axis in the operator's order, then the seed. The name is
// not part of it.
std::string text_of(const v1::Workload& workload);

// "two_cell" or "two_cell:cells_per_step=4,threads=2", as given; no parameter is left out.
std::string text_of(const v1::Arm& arm);

// Parses what text_of(Arm) writes. INVALID_ARGUMENT shows the form.
absl::StatusOr<v1::Arm> parse_arm(std::string_view text);

// "1,168", "-12,000": how integers are written for people.
std::string with_commas(std::int64_t value);

// "FASTER" is shown as "faster", "CUPTI_ACTIVITY" as "cupti activity".
std::string spoken(std::string_view enum_name);

// What a proto string and a column may hold: UTF-8 in its shortest form, no surrogates.
bool is_utf8(std::string_view text);

}  // namespace assay::proto
