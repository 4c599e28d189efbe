// A measurement comes from a runner in parts: these put them together.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>

namespace assay::server {

// Appends blocks, samples by stage and record counts of a later reply.
void append(v1::Measurement& whole, const v1::Measurement& part);

// The same for both arms; without a candidate for the baseline alone.
void append_both(v1::Configuration& configuration,
                 const v1::Measurement& baseline,
                 const v1::Measurement& candidate);

// Rounds of which there is a block.
std::uint32_t num_rounds(const v1::Configuration& configuration);

}  // namespace assay::server
