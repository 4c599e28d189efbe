#include "server/archive.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/archive_reader.h"
#include "server/scheduler.h"
#include "server/source.h"
#include "server/turn.h"

#include "absl/strings/str_cat.h"

#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

constexpr std::uint32_t kPage = 1'000;

absl::Status went_away() {
  return absl::CancelledError("the client went away");
}

absl::StatusOr<v1::Experiment> find_final(const db::Store& store, std::int64_t id) {
  v1::GetRequest get;
  get.set_experiment_id(id);
  ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, store.get(get));
  if (!is_final(experiment.state())) {
    return absl::FailedPreconditionError(absl::StrCat("experiment_ids: experiment ",
                                                      experiment.experiment_id(),
                                                      " is ",
                                                      v1::TaskState_Name(experiment.state()),
                                                      ": it can be exported when it has ended"));
  }
  return experiment;
}

// Those that a request is about, oldest first.
absl::StatusOr<std::vector<std::int64_t>> ids_of(const v1::ExportRequest& request,
                                                 const db::Store& store) {
  std::vector<std::int64_t> ids;
  if (request.experiment_ids_size() > 0) {
    for (const std::int64_t id : request.experiment_ids()) {
      ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, find_final(store, id));
      ids.push_back(experiment.experiment_id());
    }
    return ids;
  }
  v1::ListRequest list = request.filter();
  list.set_page_size(kPage);
  list.clear_page_token();
  do {
    ASSAY_ASSIGN_OR_RETURN(const v1::ListResponse page, store.list(list));
    for (const v1::Experiment& experiment : page.experiments()) {
      if (is_final(experiment.state())) {
        ids.push_back(experiment.experiment_id());
      }
    }
    list.set_page_token(page.next_page_token());
  } while (!list.page_token().empty());
  return std::vector<std::int64_t>(ids.rbegin(), ids.rend());
}

absl::Status send_blob(const std::string& digest,
                       const std::string& bytes,
                       const Archive::Write& write) {
  v1::ArchiveEntry entry;
  entry.mutable_blob()->set_digest(digest);
  entry.mutable_blob()->set_num_bytes(static_cast<std::int64_t>(bytes.size()));
  std::size_t begin = 0;
  do {
    entry.mutable_blob()->set_data(bytes.substr(begin, kArchivePieceBytes));
    if (!write(entry)) {
      return went_away();
    }
    entry.Clear();
    begin += kArchivePieceBytes;
  } while (begin < bytes.size());
  return absl::OkStatus();
}

// A descriptor of a file that is gone from its folder: closed, nothing is left.
class UnlinkedFile {
 public:
  explicit UnlinkedFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    unlink(path.c_str());
  }

  UnlinkedFile(const UnlinkedFile&) = delete;
  UnlinkedFile& operator=(const UnlinkedFile&) = delete;

  ~UnlinkedFile() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
  }

  std::int64_t num_bytes() const {
    struct stat found = {};
    return descriptor_ >= 0 && fstat(descriptor_, &found) == 0 ? found.st_size : -1;
  }

  ssize_t read(std::string& bytes) const { return ::read(descriptor_, bytes.data(), bytes.size()); }

 private:
  int descriptor_;
};

absl::Status send_file(const UnlinkedFile& file, const Archive::WriteChunk& write) {
  std::int64_t left = file.num_bytes();
  v1::BackupChunk chunk;
  chunk.set_num_bytes(left);
  std::string bytes(kBackupChunkBytes, '\0');
  while (left > 0) {
    const ssize_t num_read = file.read(bytes);
    if (num_read <= 0) {
      return absl::InternalError("the copy ends before its end");
    }
    chunk.set_data(bytes.substr(0, static_cast<std::size_t>(num_read)));
    left -= num_read;
    if (!write(chunk)) {
      return went_away();
    }
    chunk.Clear();
  }
  return left == 0 ? absl::OkStatus() : absl::InternalError("the copy cannot be read");
}

}  // namespace

Archive::Archive(db::Store& store, std::function<std::int64_t()> now_ns)
    : store_(store), now_ns_(std::move(now_ns)) {}

absl::Status Archive::send(const v1::ExportRequest& request,
                           std::int64_t max_message_bytes,
                           const Write& write) const {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> ids, ids_of(request, store_));
  v1::ArchiveEntry entry;
  v1::ArchiveHeader& header = *entry.mutable_header();
  header.set_format_version(kArchiveVersion);
  header.set_exported_ns(now_ns_());
  header.set_num_experiments(static_cast<std::uint32_t>(ids.size()));
  if (!write(entry)) {
    return went_away();
  }
  for (const std::int64_t id : ids) {
    const absl::Status status = send_one(id, max_message_bytes, write);
    if (!status.ok()) {
      return proto::annotate(status, absl::StrCat("experiment ", id));
    }
  }
  return absl::OkStatus();
}

absl::Status Archive::send_one(std::int64_t experiment_id,
                               std::int64_t max_message_bytes,
                               const Write& write) const {
  ASSAY_ASSIGN_OR_RETURN(v1::Experiment experiment, find_final(store_, experiment_id));
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::string> digests,
                         blobs_of(experiment.spec(), store_));
  for (const std::string& digest : digests) {
    ASSAY_ASSIGN_OR_RETURN(const std::string bytes, store_.blob(digest));
    ASSAY_RETURN_IF_ERROR(send_blob(digest, bytes, write));
  }
  std::vector<std::uint32_t> configurations;
  for (const v1::Configuration& configuration : experiment.configurations()) {
    configurations.push_back(configuration.configuration());
  }
  experiment.clear_configurations();
  v1::ArchiveEntry entry;
  *entry.mutable_experiment() = std::move(experiment);
  if (!write(entry)) {
    return went_away();
  }
  v1::GetRequest get;
  get.set_experiment_id(experiment_id);
  get.set_include_samples(true);
  for (const std::uint32_t configuration : configurations) {
    get.set_configuration(configuration);
    ASSAY_ASSIGN_OR_RETURN(v1::Experiment part, store_.get(get));
    *entry.mutable_configuration() = std::move(*part.mutable_configurations(0));
    const auto num_bytes = static_cast<std::int64_t>(entry.ByteSizeLong());
    if (num_bytes > max_message_bytes) {
      return absl::ResourceExhaustedError(absl::StrCat("configuration ",
                                                       configuration,
                                                       " has ",
                                                       proto::with_commas(num_bytes),
                                                       " bytes, the limit of a message is ",
                                                       proto::with_commas(max_message_bytes)));
    }
    if (!write(entry)) {
      return went_away();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::ImportArchiveResponse> Archive::receive(const Next& next) {
  const Turn turn(is_receiving_);
  if (!turn.is_mine()) {
    return absl::ResourceExhaustedError(
        "another archive is being received, the limit is one at a time: try again when it has "
        "ended");
  }
  v1::ArchiveEntry entry;
  if (!next(entry)) {
    return absl::InvalidArgumentError("header: there is no first entry");
  }
  ASSAY_RETURN_IF_ERROR(ArchiveReader::check_header(entry));
  ArchiveReader reader(store_, entry.header(), now_ns_());
  while (next(entry)) {
    ASSAY_RETURN_IF_ERROR(reader.add(entry));
    entry.Clear();
  }
  return reader.end();
}

absl::Status Archive::back_up(const WriteChunk& write) {
  const Turn turn(is_copying_);
  if (!turn.is_mine()) {
    return absl::ResourceExhaustedError(
        "another copy is being made, the limit is one at a time: try again when it has ended");
  }
  const std::string path = absl::StrCat(store_.path(), ".backup-", getpid());
  // What a daemon left that was killed over it.
  unlink(path.c_str());
  ASSAY_RETURN_IF_ERROR(store_.back_up(path));
  return send_file(UnlinkedFile(path), write);
}

absl::StatusOr<v1::PruneResponse> Archive::prune(const v1::PruneRequest& request) {
  if (request.finished_before_ns() <= 0 || request.finished_before_ns() > now_ns_()) {
    return absl::InvalidArgumentError(
        "finished_before_ns: must be a time after 1970 and not after now");
  }
  for (const v1::Setting& label : request.keep_labels()) {
    if (label.name().empty()) {
      return absl::InvalidArgumentError("keep_labels: a label has a name");
    }
  }
  return store_.prune(request);
}

}  // namespace assay::server
