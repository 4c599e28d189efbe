// Ceilings of a device: what it reads, copies, computes and launches at most. The names that every
// backend shares.
#pragma once

#include "proto/assay.pb.h"

#include <string_view>

namespace assay::profiler {

inline constexpr std::string_view kReadCeiling = "read";      // bytes/s from memory
inline constexpr std::string_view kCopyCeiling = "copy";      // bytes/s, read and written
inline constexpr std::string_view kLaunchCeiling = "launch";  // ns of a call that does nothing

// Without device, date and versions.
v1::Ceiling make_ceiling(std::string_view name,
                         double value,
                         std::string_view unit,
                         std::string_view help);

}  // namespace assay::profiler
