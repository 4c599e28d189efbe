#include "client/archive_commands.h"
#include "client/archive_file.h"
#include "client/experiment_recording.h"
#include "client/input_file.h"
#include "client/numbers.h"
#include "client/recording_text.h"
#include "client/session.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <memory>

namespace assay::client {
namespace {

constexpr const char* kArchive = "archive";

struct ExportOptions {
  std::vector<std::string> ids;  // empty: the newest
  bool all = false;
  std::string recording;
  std::string format;
  std::string output;  // empty: standard output
  bool overwrites = false;
};

absl::StatusOr<int> import_file(Session& session, const std::string& path) {
  if (is_archive(path)) {
    return import_archive(session, path);
  }
  const auto located = [&path](const absl::Status& status) {
    return proto::annotate(status, path);
  };
  absl::StatusOr<std::string> text = read_text(path, kMaxRecordedBytes);
  if (!text.ok()) {
    return located(text.status());
  }
  absl::StatusOr<RecordedFile> file = parse_recorded(*std::move(text));
  if (!file.ok()) {
    return located(file.status());
  }
  file->recording.set_file_name(base_name(path));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(file->recording, connection->import_recording(*file));
  ASSAY_RETURN_IF_ERROR(
      session.print(file->recording, recorded_file_text(*file, session.format())));
  return kFine;
}

absl::StatusOr<int> recordings(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListRecordingsResponse response, connection->recordings());
  ASSAY_RETURN_IF_ERROR(session.print_list(
      response,
      recordings_text(response, session.format()),
      !response.recordings().empty(),
      "no recording yet: `assay import FILE` keeps what another tool measured\n"));
  return kFine;
}

absl::StatusOr<RecordedFile> fetch(Connection& connection, const ExportOptions& options) {
  if (!options.recording.empty()) {
    const absl::StatusOr<std::int64_t> id = parse_id(options.recording);
    return id.ok()
               ? connection.recording(*id)
               : absl::InvalidArgumentError(absl::StrCat(
                     "--recording: `", options.recording, "`: expected a number from 1, or last"));
  }
  if (options.ids.size() > 1 || options.all) {
    return absl::InvalidArgumentError(
        "--format: only an archive holds more than one experiment; name one, or --format archive");
  }
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id,
                         options.ids.empty() ? 0 : parse_id(options.ids.front()));
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, connection.get(id, true));
  absl::StatusOr<RecordedFile> file = recording_of(experiment);
  return file.ok() ? std::move(file)
                   : proto::annotate(file.status(),
                                     absl::StrCat("experiment ", experiment.experiment_id()));
}

absl::StatusOr<int> export_whole(Session& session, const ExportOptions& options) {
  if (!options.recording.empty()) {
    return absl::InvalidArgumentError("--recording: an archive holds experiments only");
  }
  v1::ExportRequest request;
  if (!options.all) {
    for (const std::string& text : options.ids) {
      ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(text));
      request.add_experiment_ids(id);
    }
    if (options.ids.empty()) {
      request.add_experiment_ids(0);
    }
  }
  return export_archive(session, request, options.output, options.overwrites);
}

absl::StatusOr<int> export_rows(Session& session, const ExportOptions& options) {
  if (options.format == kArchive) {
    return export_whole(session, options);
  }
  // A wrong name is told before anything is fetched.
  if (const auto written = write_recorded({}, options.format); !written.ok()) {
    return written.status();
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const RecordedFile file, fetch(*connection, options));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, write_recorded(file, options.format));
  if (options.output.empty()) {
    session.console().out << text << std::flush;
    return kFine;
  }
  if (const absl::Status status = write_file(options.output, text, options.overwrites);
      !status.ok()) {
    return proto::annotate(status, "--output: " + options.output);
  }
  session.console().err << one_line(options.output) << ": "
                        << counted(static_cast<std::int64_t>(file.rows.size()), "row") << "\n";
  return kFine;
}

}  // namespace

void add_recording_commands(CLI::App& app, Session& session) {
  auto path = std::make_shared<std::string>();
  CLI::App* import_command = session.add_command(
      app,
      "import",
      "Keeps whole experiments of another database, or what another tool measured: a Kernel Tuner "
      "cache, T4, Google Benchmark or nvbench JSON, also packed by gzip; says what is odd in it "
      "and "
      "what is best",
      "  assay import experiments.assay\n"
      "  assay import cache.json.gz\n"
      "  assay import results_T4.json --format json",
      [&session, path] { return import_file(session, *path); });
  import_command->add_option("file", *path, "told by its content, never by its name")->required();

  session.add_command(
      app, "recordings", "Lists what was imported, newest first", "  assay recordings", [&session] {
        return recordings(session);
      });

  auto options = std::make_shared<ExportOptions>();
  CLI::App* export_command =
      session.add_command(app,
                          "export",
                          "Writes whole experiments for another database, or one experiment or "
                          "recording as a file of another tool",
                          "  assay export 3 5 --format archive --output experiments.assay\n"
                          "  assay export last --format t4 --output results.json\n"
                          "  assay export --recording 3 --format google_benchmark > results.json",
                          [&session, options] { return export_rows(session, *options); });
  // This one names a file's format, not that of what is printed.
  export_command->remove_option(export_command->get_option("--format"));
  CLI::Option* ids = export_command->add_option(
      "id", options->ids, "numbers, or last, which is meant without any");
  export_command->add_flag("--all", options->all, "every experiment that has ended")->excludes(ids);
  export_command
      ->add_option("--recording", options->recording, "a recording instead: number or last")
      ->excludes("id");
  export_command
      ->add_option("--format",
                   options->format,
                   absl::StrCat(kArchive, ", ", absl::StrJoin(export_formats(), ", ")))
      ->required();
  export_command->add_option(
      "-o,--output", options->output, "a new file; standard output when left out");
  export_command->add_flag("--overwrite", options->overwrites, "--output may be there already");
}

}  // namespace assay::client
