// What holds for all rows of an experiment in a receipt, as names and values. Pure.
#pragma once

#include "proto/assay.pb.h"

namespace assay::server {

// Device, toolkit, driver and modes. Neither the device's name nor its uuid: they say where it is.
void add_environment(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt);

// Rule, moments, coverage, least effect, noise floors and drift of the verdicts that are there.
void add_judged_by(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt);

}  // namespace assay::server
