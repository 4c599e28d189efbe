// What a caller may read of an error: something to act on. SQL and whatever is wrong inside stays
// in the log, which has the whole of it.
#pragma once

#include "absl/status/status.h"

namespace assay::server {

// The same code. INTERNAL and UNKNOWN lose their text, the store's errors what they say of SQLite.
absl::Status public_status(const absl::Status& status);

}  // namespace assay::server
