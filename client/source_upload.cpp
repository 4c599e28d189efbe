#include "client/source_upload.h"

#include "client/numbers.h"
#include "client/source_file.h"
#include "proto/status.h"
#include "tuning/content_digest.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::client {
namespace {

absl::Status upload_missing(Connection& connection, const SourceBundle& bundle) {
  v1::FindBlobsRequest wanted;
  for (const auto& [digest, bytes] : bundle.data) {
    wanted.add_digests(digest);
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::FindBlobsResponse found, connection.find_blobs(wanted));
  for (const std::string& digest : found.missing()) {
    const auto bytes = bundle.data.find(digest);
    if (bytes == bundle.data.end()) {
      return absl::DataLossError(
          absl::StrCat("the daemon misses ", digest, ", which it was not asked for"));
    }
    ASSAY_RETURN_IF_ERROR(connection.upload(digest, bytes->second));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PreparedSource> prepare_source(Session& session, const std::string& path) {
  absl::StatusOr<SourceBundle> bundle = read_source_file(path);
  if (!bundle.ok()) {
    return proto::annotate(bundle.status(), "--spec");
  }
  for (const std::string& warning : bundle->warnings) {
    session.console().err << one_line(absl::StrCat(path, ": ", warning)) << "\n";
  }
  PreparedSource prepared;
  std::string bytes = bundle->spec.SerializeAsString();
  prepared.operator_name = tuning::source_operator_name(bundle->spec);
  prepared.source_digest = tuning::content_digest(bytes);
  prepared.spec = std::move(bundle->spec);
  bundle->data.emplace(prepared.source_digest, std::move(bytes));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_RETURN_IF_ERROR(upload_missing(*connection, *bundle));
  return prepared;
}

}  // namespace assay::client
