// Early stopping in a sweep. It claims nothing in time: a configuration that is dropped only gives
// up its chance to win.
#pragma once

#include "proto/assay.pb.h"

#include <array>
#include <cstdint>
#include <string>

namespace assay::server {

// The rounds after which a configuration of a sweep may be dropped, before the first look.
inline constexpr std::array<std::uint32_t, 2> kDropLooks = {3, 6};

// "dropped: at least 5 % slower than the incumbent in each of 3 rounds"; empty: it may go on.
std::string why_hopeless(const v1::Configuration& configuration, double drop_above);

}  // namespace assay::server
