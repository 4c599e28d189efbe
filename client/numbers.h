// Numbers as people read them, which the daemon's receipts share: see proto/numbers.h.
#pragma once

#include "proto/numbers.h"

namespace assay::client {

using proto::bytes_text;
using proto::counted;
using proto::digest_prefix;
using proto::duration_text;
using proto::estimate_text;
using proto::in_microseconds;
using proto::interval_text;
using proto::one_line;
using proto::percent_text;
using proto::quantity_text;
using proto::ratio_text;
using proto::raw_number_text;
using proto::time_text;
using proto::with_commas;

}  // namespace assay::client
