// Bits in words, which the daemon's receipts share: see proto/bits_text.h.
#pragma once

#include "proto/bits_text.h"

namespace assay::client {

using proto::detail_text;
using proto::drift_text;
using proto::failure_text;
using proto::output_digest;
using proto::tolerance_text;

}  // namespace assay::client
