// Bytes that were sent ahead of a source: data of its tensors, by their digest.
#pragma once

#include "proto/runner.pb.h"

#include "absl/status/status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay::profiler {

inline constexpr std::int64_t kMostBlobBytes = std::int64_t{4} << 30;  // of all

using Blob = std::shared_ptr<const std::vector<std::byte>>;

class SourceBlobs {
 public:
  // Pieces of one blob come in order; the last one is checked against the digest.
  // INVALID_ARGUMENT, RESOURCE_EXHAUSTED (limit and size); the blob is then gone.
  absl::Status add(const v1::RunnerBlob& piece);

  // Null: it is not there, or not all of it.
  Blob find(const std::string& digest) const;

 private:
  struct Part {
    std::shared_ptr<std::vector<std::byte>> bytes;
    std::int64_t num_bytes = 0;  // of all pieces
  };

  absl::Status add_to(const v1::RunnerBlob& piece, Part& part);
  std::int64_t num_bytes_of_others(const std::string& digest) const;

  std::map<std::string, Part> parts_;
};

}  // namespace assay::profiler
