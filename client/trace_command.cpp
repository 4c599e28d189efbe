#include "client/numbers.h"
#include "client/session.h"
#include "client/trace.h"
#include "client/validators.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace assay::client {
namespace {

struct TraceOptions {
  std::string id = "last";
  std::string output;  // empty: standard output
  std::uint32_t configuration = 0;
  bool overwrites = false;
};

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

absl::Status file_error(const std::string& path, int error) {
  return absl::UnavailableError(absl::StrCat("--output: ", path, ": ", std::strerror(error)));
}

// What is there already is somebody's, and is replaced only when asked.
absl::StatusOr<std::unique_ptr<std::FILE, CloseFile>> create(const TraceOptions& options) {
  std::unique_ptr<std::FILE, CloseFile> file(
      std::fopen(options.output.c_str(), options.overwrites ? "wb" : "wbx"));
  if (file != nullptr) {
    return file;
  }
  if (errno == EEXIST) {
    return absl::AlreadyExistsError(absl::StrCat(
        "--output: ", options.output, " is there already; name another file or add --overwrite"));
  }
  return file_error(options.output, errno);
}

absl::Status write_all(std::FILE* file, const std::string& path, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0) {
    const int error = errno;
    std::remove(path.c_str());
    return file_error(path, error);
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::Experiment> fetch(Connection& connection, const TraceOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(options.id));
  if (options.configuration == 0) {
    return connection.get(id, true);
  }
  const absl::StatusOr<v1::Experiment> one =
      connection.get_configuration(id, options.configuration);
  return one.ok() ? one : proto::annotate(one.status(), "--configuration");
}

absl::StatusOr<int> trace(Session& session, const TraceOptions& options) {
  if (session.format() == Format::kCsv || session.format() == Format::kMarkdown) {
    return absl::InvalidArgumentError("--format: a trace is JSON; leave it out");
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, fetch(*connection, options));
  ASSAY_ASSIGN_OR_RETURN(const std::string text, trace_text(experiment));
  if (options.output.empty()) {
    session.console().out << text << std::flush;
    return kFine;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto file, create(options));
  ASSAY_RETURN_IF_ERROR(write_all(file.get(), options.output, text));
  session.console().err << one_line(options.output) << ": "
                        << counted(experiment.configurations_size(), "configuration")
                        << "; open it in ui.perfetto.dev or chrome://tracing\n";
  return kFine;
}

}  // namespace

void add_trace_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = session.add_command(
      app,
      "trace",
      "Writes a stored experiment as a timeline for Perfetto or Chrome, in JSON",
      "  assay trace last --output trace.json\n"
      "  assay trace 12 --configuration 2 > trace.json",
      [&session, options] { return trace(session, *options); });
  command->add_option("id", options->id, "a number, or last")->capture_default_str();
  command->add_option("-o,--output", options->output, "a new file; standard output when left out");
  command->add_flag("--overwrite", options->overwrites, "--output may be there already");
  command->add_option("--configuration", options->configuration, "only this one; 1 is the first")
      ->check(at_least(1));
}

}  // namespace assay::client
