// Kernels of a specification on disk, on their way to the daemon.
#pragma once

#include "client/session.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

struct PreparedSource {
  v1::SourceSpec spec;
  std::string operator_name;  // of ExperimentSpec, with
  std::string source_digest;
};

// Reads the specification `path` with all that it names, prints its warnings, and uploads what the
// daemon has not yet. Errors are those of read_source_file() and of the daemon.
absl::StatusOr<PreparedSource> prepare_source(Session& session, const std::string& path);

}  // namespace assay::client
