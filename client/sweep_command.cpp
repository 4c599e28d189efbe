#include "client/experiment_commands.h"
#include "client/input_file.h"
#include "client/numbers.h"
#include "client/progress.h"
#include "client/replay_command.h"
#include "client/session.h"
#include "client/t1_file.h"
#include "client/trace_json.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <memory>

namespace assay::client {
namespace {

using tuning::Removal;
using tuning::SearchSpace;
using tuning::SpaceCount;

constexpr std::size_t kMaxFile_bytes = std::size_t{16} << 20;

struct SweepOptions {
  SpecOptions request;
  std::string spec;
  bool counts = false;
  std::string resumed;  // an experiment's id
  ReplayOptions replay;
};

absl::StatusOr<T1File> read_spec(const std::string& path) {
  absl::StatusOr<std::string> text = read_file(path, kMaxFile_bytes);
  if (absl::IsResourceExhausted(text.status())) {
    text = absl::InvalidArgumentError("larger than 16 MiB");
  }
  absl::StatusOr<T1File> spec = text.ok() ? parse_t1(*text) : text.status();
  return spec.ok() ? std::move(spec) : proto::annotate(spec.status(), "--spec: " + path);
}

const std::string& expression_of(const SearchSpace& space, const Removal& removal) {
  return space.restrictions()[removal.restriction].expression.text();
}

std::string people_text(const std::string& path,
                        const SearchSpace& space,
                        const SpaceCount& count,
                        Format format) {
  std::string text = absl::StrCat(one_line(path),
                                  ": ",
                                  with_commas(count.num_valid),
                                  " of ",
                                  counted(count.num_combinations, "configuration"),
                                  count.num_valid == 1 ? " is valid\n" : " are valid\n");
  if (count.removals.empty()) {
    return text;
  }
  Table table{{{"restriction"}, {"removes", Align::kRight}, {"leaves", Align::kRight}}, {}};
  for (const Removal& removal : count.removals) {
    table.rows.push_back({expression_of(space, removal),
                          with_commas(removal.num_removed),
                          with_commas(removal.num_left)});
  }
  return absl::StrCat(text, "\n", table_text(table, format));
}

std::string csv_count_text(const SearchSpace& space, const SpaceCount& count) {
  Table table{{{"step"}, {"expression"}, {"num_removed"}, {"num_left"}}, {}};
  table.rows.push_back({"combinations", "", "0", absl::StrCat(count.num_combinations)});
  for (const Removal& removal : count.removals) {
    table.rows.push_back({"restriction",
                          expression_of(space, removal),
                          absl::StrCat(removal.num_removed),
                          absl::StrCat(removal.num_left)});
  }
  table.rows.push_back({"valid", "", "0", absl::StrCat(count.num_valid)});
  return csv_text(table);
}

std::string json_count_text(const T1File& spec, const SpaceCount& count) {
  std::vector<std::string> restrictions;
  for (const Removal& removal : count.removals) {
    restrictions.push_back(JsonMembers()
                               .add("expression", expression_of(spec.space, removal))
                               .add_integer64("num_removed", removal.num_removed)
                               .add_integer64("num_left", removal.num_left)
                               .text());
  }
  std::vector<std::string> warnings;
  for (const std::string& warning : spec.warnings) {
    warnings.push_back(JsonMembers().add("message", warning).text());
  }
  const auto list = [](const std::vector<std::string>& objects) {
    return objects.empty() ? std::string("[]")
                           : absl::StrCat("[\n  {", absl::StrJoin(objects, "},\n  {"), "}\n ]");
  };
  return absl::StrCat("{",
                      JsonMembers()
                          .add_integer64("num_valid", count.num_valid)
                          .add_integer64("num_combinations", count.num_combinations)
                          .text(),
                      ",\n \"restrictions\":",
                      list(restrictions),
                      ",\n \"warnings\":",
                      list(warnings),
                      "}\n");
}

absl::StatusOr<int> count_spec(Session& session, const SweepOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const T1File spec, read_spec(options.spec));
  const absl::StatusOr<SpaceCount> count = spec.space.count();
  if (!count.ok()) {
    return proto::annotate(count.status(), "--spec: " + options.spec);
  }
  for (const std::string& warning : spec.warnings) {
    session.console().err << one_line(absl::StrCat(options.spec, ": ", warning)) << "\n";
  }
  std::string text;
  switch (session.format()) {
    case Format::kJson:
      text = json_count_text(spec, *count);
      break;
    case Format::kCsv:
      text = csv_count_text(spec.space, *count);
      break;
    default:
      text = people_text(options.spec, spec.space, *count, session.format());
  }
  session.console().out << text << std::flush;
  return kFine;
}

absl::StatusOr<int> resume(Session& session, const SweepOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t experiment_id, parse_id(options.resumed));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, connection->resume(experiment_id));
  if (options.request.detach) {
    ASSAY_RETURN_IF_ERROR(session.print(experiment, progress_text(experiment) + "\n"));
    return kFine;
  }
  return follow_and_print(session, experiment.experiment_id(), FailOn());
}

absl::StatusOr<int> sweep(Session& session, const SweepOptions& options) {
  if (options.counts) {
    if (options.spec.empty()) {
      return absl::InvalidArgumentError("--count: needs --spec FILE");
    }
    return count_spec(session, options);
  }
  if (!options.replay.file.empty()) {
    // What it shares with a real sweep is said by the same options.
    ReplayOptions replay = options.replay;
    replay.strategy = options.request.strategy;
    replay.objective = options.request.objective;
    replay.budget = options.request.sweep_budget;
    replay.seed = options.request.seed;
    return replay_file(session, replay);
  }
  if (!options.resumed.empty()) {
    if (!options.request.operator_name.empty()) {
      return absl::InvalidArgumentError(
          "--resume: takes no operator; what the sweep asks for is stored");
    }
    return resume(session, options);
  }
  SpecOptions request = options.request;
  request.source = options.spec;
  if (request.operator_name.empty() && request.source.empty()) {
    return absl::InvalidArgumentError(
        "name an operator (see `assay operators`), or give --spec, --resume or --replay");
  }
  ASSAY_RETURN_IF_ERROR(settle_operator(session, request));
  // A specification's first variant is what bits are held against and, unless another is named,
  // what is walked.
  if (!request.source.empty() && request.candidates.empty()) {
    request.candidates = {request.baseline};
  }
  return submit(session, v1::SWEEP, request);
}

constexpr char kExamples[] =
    "  assay sweep qsa_decode -a cells_per_step=[2,4,8] -a width=32768\n"
    "  assay sweep tree_attention --variant warpgroup --strategy genetic --budget 60s\n"
    "  assay sweep --resume last\n"
    "  assay sweep --replay cache.json.gz --strategy genetic --budget 200 --repeats 50\n"
    "  assay sweep --spec kernel.json --strategy genetic --budget 200\n"
    "  assay sweep --spec kernel.json --count";

}  // namespace

void add_sweep_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command = session.add_command(
      app,
      "sweep",
      "Finds the fastest launch parameters of a variant: each configuration is held against the "
      "bits before it is timed, then against the best so far. With --count it only counts what a "
      "tuning specification allows, with --replay it walks what another tool measured; neither "
      "asks a daemon",
      kExamples,
      [&session, options] { return sweep(session, *options); });
  add_common_options(*command, options->request, false);
  add_sweep_options(*command, options->request);
  command->add_option("--spec",
                      options->spec,
                      "kernels of your own: a T1 file, as of Kernel Tuner or KTT, or our JSON");
  command->add_flag("--count", options->counts, "print the number of valid configurations");
  command->add_option("--replay", options->replay.file, "a file that `assay import` reads");
  command
      ->add_option("--repeats", options->replay.num_repeats, "of a replay, each with its own seed")
      ->capture_default_str();
  command->add_option("--resume", options->resumed, "a sweep that was interrupted or cancelled");
}

}  // namespace assay::client
