// Which file a path names: two paths of one file have one, and a file that took another's name has
// its own.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/types.h>

namespace assay::db {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;

  // nullopt: there is none, or its folder cannot be read.
  static std::optional<FileId> of(const std::string& path) {
    struct stat found = {};
    return ::stat(path.c_str(), &found) == 0
               ? std::optional<FileId>({.device = found.st_dev, .inode = found.st_ino})
               : std::nullopt;
  }

  bool operator==(const FileId&) const = default;
};

}  // namespace assay::db
