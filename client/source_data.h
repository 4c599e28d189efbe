// The data of a specification's tensors, read from its folder.
#pragma once

#include "client/source_file.h"

#include "absl/status/status.h"

namespace assay::client {

// Reads every `file` of fills and references, sets its digest (of a reference its dtype too) and
// keeps the bytes. Errors as parse_source_file().
absl::Status read_source_data(SourceBundle& bundle, const SourceFolder& folder);

// Keeps bytes that belong to no file; gives their digest. RESOURCE_EXHAUSTED past
// kMaxSourceDataBytes.
absl::StatusOr<std::string> keep_source_data(SourceBundle& bundle, std::string bytes);

}  // namespace assay::client
