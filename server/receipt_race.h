// What a receipt says of a SWEEP. Pure.
#pragma once

#include "proto/assay.pb.h"

#include <cstddef>

namespace assay::server {

inline constexpr std::size_t kMaxReceiptContenders = 10;

void add_races(const v1::Experiment& experiment, v1::ReceiptExperiment& receipt);

}  // namespace assay::server
