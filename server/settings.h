// Names and values of axes and launch parameters against the tables of an operator.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <optional>
#include <string>

namespace assay::server {

using AxisInfos = google::protobuf::RepeatedPtrField<v1::AxisInfo>;
using Settings = google::protobuf::RepeatedPtrField<v1::Setting>;

// Null when there is none of that name.
const v1::AxisInfo* find_axis(const AxisInfos& axes, const std::string& name);

// The value in its one spelling ("007" is "7"). INVALID_ARGUMENT names `path` and the valid values.
absl::StatusOr<std::string> canonical_value(const v1::AxisInfo& axis,
                                            const std::string& value,
                                            const std::string& path);

// Every axis at its default, in the table's order.
Settings default_settings(const AxisInfos& axes);

// Sets the value of a name that is there.
void set_value(Settings& settings, const std::string& name, const std::string& value);

}  // namespace assay::server
