// What `import` and `export` do with whole experiments.
#pragma once

#include "client/session.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <string>

namespace assay::client {

absl::StatusOr<int> import_archive(Session& session, const std::string& path);

// ALREADY_EXISTS unless `overwrites`; nothing is left of what fails.
absl::StatusOr<int> export_archive(Session& session,
                                   const v1::ExportRequest& request,
                                   const std::string& path,
                                   bool overwrites);

}  // namespace assay::client
