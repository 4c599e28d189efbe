// What a receipt says of one experiment. Pure: the same stored experiment gives the same message on
// every machine, whatever number it has there.
#pragma once

#include "proto/assay.pb.h"

#include <cstdint>
#include <string>

namespace assay::server {

// Drops the verdicts that were made later; 0: none.
void keep_verdicts_until(std::int64_t judged_until_ns, v1::Experiment& experiment);

// When the newest verdict was made that counts; 0: there is none.
std::int64_t newest_judged_ns(const v1::Experiment& experiment);

// Of one in a final state, whose last verdicts are those that count.
v1::ReceiptExperiment receipt_experiment(const v1::Experiment& experiment);

// By which a receipt names an experiment: a request_id may hold anything.
std::string receipt_name(const std::string& request_id);

}  // namespace assay::server
