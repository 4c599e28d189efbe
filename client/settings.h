// What rows of a table have in common, which the daemon's receipts share: see proto/settings.h.
#pragma once

#include "proto/settings.h"

namespace assay::client {

using proto::Settings;
using proto::settings_of;
using proto::Varying;

}  // namespace assay::client
