// Holds PATH.lock for the life of the object, so that one daemon owns a database. The file names
// the holder's pid and stays behind; what counts is the kernel's lock, which dies with the process.
// The database itself is never opened here: closing it would drop SQLite's own locks.
#pragma once

#include "absl/status/statusor.h"

#include <string>

namespace assay::db {

class FileLock {
 public:
  // FAILED_PRECONDITION "database in use by pid N"; NOT_FOUND: no such directory;
  // PERMISSION_DENIED: it cannot be written; RESOURCE_EXHAUSTED: disk full.
  static absl::StatusOr<FileLock> acquire(const std::string& database_path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace assay::db
