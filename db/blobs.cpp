#include "db/blobs.h"

#include "db/statement.h"
#include "proto/status.h"

namespace assay::db {
namespace {

absl::StatusOr<std::set<std::string>> used_sources(Connection& connection,
                                                   const std::set<std::int64_t>& but) {
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT experiment_id, spec ->> '$.source_digest' FROM t_experiment"
                         " WHERE spec ->> '$.source_digest' <> ''"));
  std::set<std::string> digests;
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      return digests;
    }
    if (!but.contains(rows.integer(0))) {
      digests.emplace(rows.text(1));
    }
  }
}

// The sources themselves, and their data.
absl::StatusOr<std::set<std::string>> used_blobs(Connection& connection,
                                                 const std::set<std::int64_t>& but) {
  ASSAY_ASSIGN_OR_RETURN(std::set<std::string> used, used_sources(connection, but));
  for (const std::string& digest : std::set<std::string>(used)) {
    ASSAY_ASSIGN_OR_RETURN(Statement rows,
                           connection.prepare("SELECT data FROM t_blob WHERE digest = ?"));
    rows.bind_all(digest);
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    v1::SourceSpec source;
    if (has_row && source.ParseFromString(std::string(rows.bytes(0)))) {
      used.merge(data_of(source));
    }
  }
  return used;
}

}  // namespace

std::set<std::string> data_of(const v1::SourceSpec& source) {
  std::set<std::string> digests;
  for (const v1::SourceTensor& tensor : source.tensors()) {
    for (const std::string& digest : {tensor.fill().digest(), tensor.reference().digest()}) {
      if (!digest.empty()) {
        digests.insert(digest);
      }
    }
  }
  return digests;
}

absl::StatusOr<std::vector<StoredBlob>> unused_blobs(Connection& connection,
                                                     std::int64_t uploaded_before_ns,
                                                     const std::set<std::int64_t>& but) {
  std::vector<StoredBlob> blobs;
  ASSAY_ASSIGN_OR_RETURN(
      Statement rows,
      connection.prepare("SELECT digest, num_bytes FROM t_blob WHERE uploaded_ns < ?"));
  rows.bind_all(uploaded_before_ns);
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(const bool has_row, rows.step());
    if (!has_row) {
      break;
    }
    blobs.push_back({.digest = std::string(rows.text(0)), .num_bytes = rows.integer(1)});
  }
  if (blobs.empty()) {
    return blobs;
  }
  ASSAY_ASSIGN_OR_RETURN(const std::set<std::string> used, used_blobs(connection, but));
  std::erase_if(blobs, [&used](const StoredBlob& blob) { return used.contains(blob.digest); });
  return blobs;
}

}  // namespace assay::db
