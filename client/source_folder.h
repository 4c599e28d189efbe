// The files beside a specification: sources, the headers that they include, data. All are named
// relative to its folder.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <cstddef>
#include <string>
#include <utility>

namespace assay::client {

class SourceFolder {
 public:
  // That of the specification `path` ("a/b.json": "a").
  static SourceFolder of(const std::string& path);

  explicit SourceFolder(std::string folder) : folder_(std::move(folder)) {}

  // INVALID_ARGUMENT: `name` is absolute or leads out of the folder. NOT_FOUND: no such file.
  // RESOURCE_EXHAUSTED: larger than max_bytes. Messages begin with the name.
  absl::StatusOr<std::string> read(const std::string& name, std::size_t max_bytes) const;

  // Gives every file of the specification its text, and adds, under the names that they are
  // included by, the headers that lie here and are included with quotes, as deep as it goes. What
  // is not here is left to the compiler. Errors begin with the field.
  absl::Status read_sources(v1::SourceSpec& spec) const;

 private:
  absl::Status read_text(v1::SourceFile& file, const std::string& path) const;

  std::string folder_;
};

}  // namespace assay::client
