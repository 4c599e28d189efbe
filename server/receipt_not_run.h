// What a receipt has to admit: what was not run, and why. Pure.
#pragma once

#include "proto/assay.pb.h"

namespace assay::server {

void add_not_run(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt);

// Of all its experiments together: operators without a check.
void add_not_run(v1::Receipt& receipt);

}  // namespace assay::server
