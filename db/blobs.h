// What was uploaded, and which experiments still need it: an experiment names its source, and the
// source names its data.
#pragma once

#include "db/connection.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace assay::db {

// Digests of the data that tensors start with or are compared with, each once.
std::set<std::string> data_of(const v1::SourceSpec& source);

struct StoredBlob {
  std::string digest;
  std::int64_t num_bytes = 0;
};

// Those of before a time that no experiment needs but those of `but`.
absl::StatusOr<std::vector<StoredBlob>> unused_blobs(Connection& connection,
                                                     std::int64_t uploaded_before_ns,
                                                     const std::set<std::int64_t>& but);

}  // namespace assay::db
