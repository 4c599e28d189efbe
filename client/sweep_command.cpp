#include "client/experiment_commands.h"
#include "client/numbers.h"
#include "client/progress.h"
#include "client/replay_command.h"
#include "client/session.h"
#include "client/spec_count.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <memory>

namespace assay::client {
namespace {

struct SweepOptions {
  SpecOptions request;
  std::string spec;
  bool counts = false;
  std::string resumed;  // an experiment's id
  ReplayOptions replay;
};

absl::StatusOr<int> count(Session& session, const SweepOptions& options) {
  const std::vector<std::string>& variants = options.request.candidates;
  if (variants.size() > 1) {
    return absl::InvalidArgumentError("--variant: --count counts those of one");
  }
  ASSAY_ASSIGN_OR_RETURN(
      const SpecCount counted,
      count_spec(options.spec, variants.empty() ? "" : variants.front(), session.format()));
  for (const std::string& warning : counted.warnings) {
    session.console().err << one_line(absl::StrCat(options.spec, ": ", warning)) << "\n";
  }
  session.console().out << counted.text << std::flush;
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
    return count(session, options);
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
  command->add_flag("--count", options->counts, "print how many configurations --spec allows");
  command->add_option("--replay", options->replay.file, "a file that `assay import` reads");
  command
      ->add_option("--repeats", options->replay.num_repeats, "of a replay, each with its own seed")
      ->capture_default_str();
  command->add_option("--resume", options->resumed, "a sweep that was interrupted or cancelled");
}

}  // namespace assay::client
