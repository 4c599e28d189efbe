// What an explanation says of the passes beside the timing: how the device was, second figures, and
// the kernels themselves.
#pragma once

#include "client/report.h"
#include "proto/assay.pb.h"

namespace assay::client {

// Source and modes, admission, other processes, and the times of passes that are not judged. Needs
// samples for the last.
void add_profile_facts(Report& report, const v1::Configuration& configuration);

// Registers, memory, launch shape, occupancy and machine code of every kernel; no rows where
// nothing is known of them.
Table kernel_table(const v1::Configuration& configuration);

}  // namespace assay::client
