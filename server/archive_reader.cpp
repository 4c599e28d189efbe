#include "server/archive_reader.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/archive.h"
#include "server/archive_check.h"
#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"

#include <utility>

namespace assay::server {

absl::Status ArchiveReader::check_header(const v1::ArchiveEntry& entry) {
  if (!entry.has_header()) {
    return absl::InvalidArgumentError("header: an archive begins with one");
  }
  if (entry.header().format_version() != kArchiveVersion) {
    return absl::InvalidArgumentError(absl::StrCat("header.format_version: is ",
                                                   entry.header().format_version(),
                                                   ", this daemon reads ",
                                                   kArchiveVersion));
  }
  return absl::OkStatus();
}

absl::Status ArchiveReader::add(v1::ArchiveEntry& entry) {
  if (!entry.has_blob() && has_open_blob_) {
    return absl::InvalidArgumentError("blob: ends before its end");
  }
  switch (entry.entry_case()) {
    case v1::ArchiveEntry::kBlob:
      return add_blob(*entry.mutable_blob());
    case v1::ArchiveEntry::kExperiment:
      ASSAY_RETURN_IF_ERROR(store_last());
      ASSAY_RETURN_IF_ERROR(
          proto::annotate(check_archived(entry.experiment()),
                          absl::StrCat("experiment ", entry.experiment().experiment_id())));
      experiment_ = std::move(*entry.mutable_experiment());
      ++num_experiments_;
      return absl::OkStatus();
    case v1::ArchiveEntry::kConfiguration:
      return add_configuration(*entry.mutable_configuration());
    default:
      return absl::InvalidArgumentError("entry: expected a blob, experiment or configuration");
  }
}

absl::Status ArchiveReader::add_blob(v1::ArchiveBlob& blob) {
  if (!has_open_blob_) {
    if (!tuning::is_content_digest(blob.digest()) || blob.num_bytes() < 0 ||
        blob.num_bytes() > kMaxArchivedBytes) {
      return absl::InvalidArgumentError("blob: its first piece names digest and num_bytes");
    }
    blob_ = std::move(blob);
    has_open_blob_ = true;
  } else {
    blob_.mutable_data()->append(blob.data());
  }
  const auto num_bytes = static_cast<std::int64_t>(blob_.data().size());
  if (num_bytes < blob_.num_bytes()) {
    return absl::OkStatus();
  }
  if (num_bytes > blob_.num_bytes() || tuning::content_digest(blob_.data()) != blob_.digest()) {
    return absl::DataLossError(
        absl::StrCat("blob: is not what its digest ", blob_.digest(), " says"));
  }
  has_open_blob_ = false;
  return store_.add_blob(blob_.digest(), blob_.data(), now_ns_);
}

absl::Status ArchiveReader::add_configuration(v1::Configuration& configuration) {
  if (num_experiments_ == 0) {
    return absl::InvalidArgumentError("configuration: comes before its experiment");
  }
  ASSAY_RETURN_IF_ERROR(proto::annotate(check_archived(configuration),
                                        absl::StrCat("experiment ",
                                                     experiment_.experiment_id(),
                                                     ": configuration ",
                                                     configuration.configuration())));
  num_bytes_ += static_cast<std::int64_t>(configuration.ByteSizeLong());
  if (num_bytes_ > kMaxArchivedBytes) {
    return absl::ResourceExhaustedError(absl::StrCat("experiment ",
                                                     experiment_.experiment_id(),
                                                     ": more than ",
                                                     proto::with_commas(kMaxArchivedBytes),
                                                     " bytes, the limit"));
  }
  *experiment_.add_configurations() = std::move(configuration);
  return absl::OkStatus();
}

absl::Status ArchiveReader::store_last() {
  if (num_experiments_ == 0) {
    return absl::OkStatus();
  }
  if (experiment_.num_finished() != static_cast<std::uint32_t>(experiment_.configurations_size())) {
    return absl::DataLossError(absl::StrCat("experiment ",
                                            experiment_.experiment_id(),
                                            ": ",
                                            experiment_.configurations_size(),
                                            " of its ",
                                            experiment_.num_finished(),
                                            " configurations are there"));
  }
  ASSAY_ASSIGN_OR_RETURN(*response_.add_experiments(), store_.add_archived(experiment_));
  num_bytes_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<v1::ImportArchiveResponse> ArchiveReader::end() {
  // The stream of a reader that is cut off ends like any other.
  if (has_open_blob_ || num_experiments_ != header_.num_experiments()) {
    return absl::DataLossError(absl::StrCat("the archive ends in experiment ",
                                            num_experiments_,
                                            " of ",
                                            header_.num_experiments(),
                                            "; those before it are stored"));
  }
  ASSAY_RETURN_IF_ERROR(store_last());
  return std::move(response_);
}

}  // namespace assay::server
