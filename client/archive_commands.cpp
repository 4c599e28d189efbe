#include "client/archive_commands.h"

#include "client/archive_file.h"
#include "client/duration.h"
#include "client/new_file.h"
#include "client/numbers.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace assay::client {
namespace {

struct BackupOptions {
  std::string path;
  bool overwrites = false;
};

struct PruneOptions {
  std::string older_than;
  std::vector<std::string> keep_labels;
  bool dry_run = false;
  bool only_samples = false;
};

// What a daemon holds open must not be replaced under it.
absl::Status check_not_served(const std::string& path) {
  for (const char* beside : {".lock", "-wal"}) {
    if (std::error_code error; std::filesystem::exists(path + beside, error)) {
      return absl::FailedPreconditionError(
          absl::StrCat("is a database that a daemon serves or served (",
                       one_line(path),
                       beside,
                       " is there); name another file"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> back_up(Session& session, const BackupOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  if (const absl::Status status = check_not_served(options.path); !status.ok()) {
    return proto::annotate(status, one_line(options.path));
  }
  auto file = NewFile::create(options.path, options.overwrites, Readers::kOwner);
  if (!file.ok()) {
    return proto::annotate(file.status(), one_line(options.path));
  }
  std::int64_t num_bytes = 0;
  std::int64_t num_written = 0;
  ASSAY_RETURN_IF_ERROR(connection->back_up([&](const v1::BackupChunk& chunk) -> absl::Status {
    num_bytes = std::max(num_bytes, chunk.num_bytes());
    num_written += static_cast<std::int64_t>(chunk.data().size());
    return (*file)->write(chunk.data());
  }));
  if (num_written != num_bytes || num_bytes == 0) {
    return absl::DataLossError(absl::StrCat("the copy has ",
                                            with_commas(num_written),
                                            " bytes of ",
                                            with_commas(num_bytes),
                                            "; nothing was written"));
  }
  if (const absl::Status status = (*file)->finish(); !status.ok()) {
    return proto::annotate(status, one_line(options.path));
  }
  session.console().err << one_line(options.path) << ": " << with_commas(num_bytes) << " bytes\n";
  return kFine;
}

std::string pruned_text(const v1::PruneResponse& response, const PruneOptions& options) {
  const std::string what = options.only_samples ? "samples of " : "";
  std::string text = absl::StrCat(options.dry_run ? "would remove " : "removed ",
                                  what,
                                  counted(response.num_experiments(), "experiment"),
                                  ", about ",
                                  quantity_text(static_cast<double>(response.num_bytes()), "bytes"),
                                  options.dry_run ? "\n" : "; the file reuses the room\n");
  for (const v1::CountBy& kept : response.kept()) {
    absl::StrAppend(
        &text, "kept for ", one_line(kept.label()), ": ", with_commas(kept.num()), "\n");
  }
  return text;
}

absl::StatusOr<int> prune(Session& session, const PruneOptions& options) {
  const absl::StatusOr<std::int64_t> age = parse_duration(options.older_than);
  if (!age.ok()) {
    return proto::annotate(age.status(), "--older-than");
  }
  v1::PruneRequest request;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  request.set_finished_before_ns(std::chrono::nanoseconds(now).count() - *age);
  request.set_dry_run(options.dry_run);
  request.set_only_samples(options.only_samples);
  for (const std::string& text : options.keep_labels) {
    const std::size_t equals = text.find('=');
    v1::Setting& label = *request.add_keep_labels();
    label.set_name(text.substr(0, equals));
    label.set_value(equals == std::string::npos ? "" : text.substr(equals + 1));
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::PruneResponse response, connection->prune(request));
  ASSAY_RETURN_IF_ERROR(session.print(response, pruned_text(response, options)));
  return kFine;
}

std::string imported_text(const v1::ImportArchiveResponse& response) {
  std::int64_t num_here = 0;
  for (const v1::ImportedExperiment& experiment : response.experiments()) {
    num_here += experiment.was_here() ? 1 : 0;
  }
  std::string text = absl::StrCat(counted(response.experiments_size() - num_here, "experiment"),
                                  " imported, ",
                                  with_commas(num_here),
                                  " here already\n");
  if (response.experiments_size() > 0) {
    const v1::ImportedExperiment& last = response.experiments(response.experiments_size() - 1);
    absl::StrAppend(&text, "the last one is experiment ", last.experiment_id(), " here\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<int> import_archive(Session& session, const std::string& path) {
  auto file = ArchiveFileReader::open(path);
  if (!file.ok()) {
    return proto::annotate(file.status(), one_line(path));
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  const auto next = [&](v1::ArchiveEntry& entry) -> absl::StatusOr<bool> {
    absl::StatusOr<bool> is_there = (*file)->next(entry);
    return is_there.ok() ? is_there : proto::annotate(is_there.status(), one_line(path));
  };
  ASSAY_ASSIGN_OR_RETURN(const v1::ImportArchiveResponse response,
                         connection->import_archive(next));
  ASSAY_RETURN_IF_ERROR(session.print(response, imported_text(response)));
  return kFine;
}

absl::StatusOr<int> export_archive(Session& session,
                                   const v1::ExportRequest& request,
                                   const std::string& path,
                                   bool overwrites) {
  if (path.empty()) {
    return absl::InvalidArgumentError("--output: an archive is a file; name it");
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  auto file = ArchiveFileWriter::create(path, overwrites);
  if (!file.ok()) {
    return proto::annotate(file.status(), absl::StrCat("--output: ", one_line(path)));
  }
  std::int64_t num_experiments = 0;
  const auto add = [&](const v1::ArchiveEntry& entry) {
    num_experiments += entry.has_experiment() ? 1 : 0;
    return (*file)->add(entry);
  };
  ASSAY_RETURN_IF_ERROR(connection->export_archive(request, add));
  if (const absl::Status status = (*file)->finish(); !status.ok()) {
    return proto::annotate(status, absl::StrCat("--output: ", one_line(path)));
  }
  session.console().err << one_line(path) << ": " << counted(num_experiments, "experiment") << "\n";
  return kFine;
}

void add_archive_commands(CLI::App& app, Session& session) {
  auto backup = std::make_shared<BackupOptions>();
  CLI::App* backup_command = session.add_command(
      app,
      "backup",
      "Writes a copy of the whole database, as it is at one moment, while the daemon goes on",
      "  assay backup assay-2026-01-31.db",
      [&session, backup] { return back_up(session, *backup); });
  backup_command->add_option("-o,--output,file", backup->path, "a new file")->required();
  backup_command->add_flag("--overwrite", backup->overwrites, "the file may be there already");

  auto pruned = std::make_shared<PruneOptions>();
  CLI::App* prune_command = session.add_command(
      app,
      "prune",
      "Removes experiments that ended long ago; never what accepted bits, tunings, noise floors, "
      "ceilings and open regressions rest on",
      "  assay prune --older-than 180d --keep-label release --dry-run\n"
      "  assay prune --older-than 30d --only-samples",
      [&session, pruned] { return prune(session, *pruned); });
  prune_command->add_option("--older-than", pruned->older_than, "since their end, as in 180d")
      ->required();
  prune_command
      ->add_option("--keep-label", pruned->keep_labels, "NAME or NAME=VALUE: those with it stay")
      ->allow_extra_args(false);
  prune_command->add_flag(
      "--only-samples",
      pruned->only_samples,
      "keeps experiments, verdicts, digests and points of trends; they can't be judged again");
  prune_command->add_flag("--dry-run", pruned->dry_run, "removes nothing, tells what would go");
}

}  // namespace assay::client
