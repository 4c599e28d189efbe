// Archives of whole experiments: a gzip file of the line "assay archive" and then v1::ArchiveEntry
// messages, each after its length as a varint, an empty one last. Neither side holds more than one
// entry.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>

namespace assay::client {

// Told by its content. False also for what cannot be read.
bool is_archive(const std::string& path);

class ArchiveFileWriter {
 public:
  // ALREADY_EXISTS unless `overwrites`.
  static absl::StatusOr<std::unique_ptr<ArchiveFileWriter>> create(const std::string& path,
                                                                   bool overwrites);
  virtual ~ArchiveFileWriter() = default;

  virtual absl::Status add(const v1::ArchiveEntry& entry) = 0;
  // Before it nothing has the path's name, and without it nothing is left.
  virtual absl::Status finish() = 0;
};

class ArchiveFileReader {
 public:
  // NOT_FOUND: no such file; INVALID_ARGUMENT: no archive.
  static absl::StatusOr<std::unique_ptr<ArchiveFileReader>> open(const std::string& path);
  virtual ~ArchiveFileReader() = default;

  // False after the last. DATA_LOSS: the file is damaged or ends before its end;
  // RESOURCE_EXHAUSTED: an entry that no daemon would take.
  virtual absl::StatusOr<bool> next(v1::ArchiveEntry& entry) = 0;
};

}  // namespace assay::client
