// The arguments of a T1 file's kernel as tensors and scalars, and their references.
#pragma once

#include "client/source_file.h"
#include "client/strict_json.h"
#include "client/t1_file.h"

#include "absl/status/status.h"

namespace assay::client {

// Adds to the bundle's specification the tensors, and to its only stage the arguments in the
// file's order. A Random fill is uniform in [0, FillValue) and follows the experiment's seed; a
// Generator is evaluated here. What cannot be run is refused by its field: Local and Symbol memory,
// Script and BinaryHDF, types that no tensor has.
absl::Status read_t1_arguments(const nlohmann::json& kernel,
                               const T1File& file,
                               SourceBundle& bundle);

}  // namespace assay::client
