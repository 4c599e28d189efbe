// What a measured configuration says to the series: a point for every arm and stage, from the
// samples of its good blocks.
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"

#include <vector>

namespace assay::server {

// COMPARE, MEASURE and CALIBRATE, but for a re-run that confirms a regression: evidence about a
// point is no point of its own.
bool makes_points(const v1::ExperimentSpec& spec);

// Empty where the spec makes none, nothing good was timed or in no time at all, or the device has
// no uuid to tell it from others.
std::vector<db::SeriesEntry> points_of(const v1::ExperimentSpec& spec,
                                       const v1::Device& device,
                                       const v1::Configuration& configuration);

// Of the baseline arm, whatever the spec is for.
std::vector<db::SeriesEntry> baseline_points(const v1::ExperimentSpec& spec,
                                             const v1::Device& device,
                                             const v1::Configuration& configuration);

}  // namespace assay::server
