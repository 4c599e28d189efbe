// Specifications of kernels on disk: our own JSON (proto JSON of v1::SourceSpec, where files have a
// name and no text) or a T1 file, with everything that they name.
#pragma once

#include "client/source_folder.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

inline constexpr std::size_t kMaxSpecFileBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxSourceDataBytes = std::size_t{256} << 20;  // in all

struct SourceBundle {
  v1::SourceSpec spec;                      // valid, with texts and digests
  std::map<std::string, std::string> data;  // digest -> bytes of the elements
  std::vector<std::string> warnings;        // one line each
};

// Everything that the specification's text names, read from `folder`. INVALID_ARGUMENT names the
// field by path; NOT_FOUND "data source NAME not found"; RESOURCE_EXHAUSTED limit and size. Data
// must have the size of its tensor where all axes have their default.
absl::StatusOr<SourceBundle> parse_source_file(std::string_view text, const SourceFolder& folder);

// Of the file `path`; errors begin with it.
absl::StatusOr<SourceBundle> read_source_file(const std::string& path);

}  // namespace assay::client
