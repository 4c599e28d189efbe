#include "client/experiment_commands.h"

#include "client/progress.h"
#include "client/report.h"
#include "client/session.h"
#include "client/source_upload.h"
#include "client/spec_options.h"
#include "proto/status.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <memory>

namespace assay::client {
namespace {

constexpr char kCompareExamples[] =
    "  assay compare qsa_decode --baseline one_cell --candidate two_cell -a kv=int8 -a n_q=[1:4]\n"
    "  assay compare qsa_decode --baseline one_cell --candidate two_cell:cells_per_step=4 \\\n"
    "      --candidate lane_cell -a width=[2051,32768] --fail-on slower,undecided\n"
    "  assay compare qsa_decode --candidate two_cell -a cells_per_step[pow2]=[0:3] --format "
    "markdown\n"
    "  assay compare --spec scale.json --baseline old --candidate new -a n=[1000,1000000]";

constexpr char kMeasureExamples[] =
    "  assay measure qsa_decode --variant two_cell -a kv=[fp16,int8] --cache hot\n"
    "  assay measure qsa_decode --variant two_cell:cells_per_step=8 --format csv\n"
    "  assay measure tree_attention --counters dram,l2,tensor,occupancy";

constexpr char kCalibrateExamples[] =
    "  assay calibrate\n"
    "  assay calibrate qsa_decode --device cpu --workload q2 --workload q7\n"
    "  assay calibrate tree_attention --variant warpgroup --launch-mode graph";

constexpr char kBenchExamples[] =
    "  assay device bench\n"
    "  assay device bench --device cpu --format csv";

constexpr char kCheckExamples[] =
    "  assay check qsa_decode\n"
    "  assay check qsa_decode --suite mutants --device cpu";

// Follows the experiment to its end; Ctrl-C leaves it running.
absl::StatusOr<v1::Experiment> follow(Session& session, std::int64_t experiment_id) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  std::int64_t seen_id = experiment_id;
  absl::StatusOr<v1::Experiment> last = absl::UnknownError("not followed");
  {
    Progress progress(session.console().err, session.console().err_is_terminal);
    last = connection->watch(experiment_id, [&](const v1::Experiment& experiment) {
      seen_id = experiment.experiment_id();
      progress.show(experiment);
    });
  }
  if (absl::IsNotFound(last.status())) {
    return last.status();
  }
  if (!last.ok()) {
    const std::string id = seen_id == 0 ? "last" : absl::StrCat(seen_id);
    return proto::annotate(last.status(),
                           absl::StrCat("experiment ",
                                        id,
                                        " is not followed any more and goes on (`assay watch ",
                                        id,
                                        "` follows it, `assay cancel ",
                                        id,
                                        "` ends it)"));
  }
  return connection->get(last->experiment_id(), false);
}

}  // namespace

absl::StatusOr<int> follow_and_print(Session& session,
                                     std::int64_t experiment_id,
                                     const FailOn& fail_on) {
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, follow(session, experiment_id));
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         experiment_text(experiment, session.format(), false));
  session.console().out << text << std::flush;
  return exit_status(experiment, fail_on);
}

absl::Status settle_operator(Session& session, SpecOptions& options) {
  if (options.operator_name.empty() && options.source.empty()) {
    return absl::InvalidArgumentError("name an operator, or a specification with --spec");
  }
  if (!options.operator_name.empty() && !options.source.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--spec: stands in the place of the operator; leave `",
                     options.operator_name,
                     "` out, or it"));
  }
  if (options.source.empty()) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const PreparedSource source, prepare_source(session, options.source));
  options.operator_name = source.operator_name;
  options.source_digest = source.source_digest;
  // The catalogue that a request is completed from has not this operator.
  if (options.baseline.empty()) {
    options.baseline = tuning::complete_source(source.spec).variants(0).name();
  }
  return absl::OkStatus();
}

absl::StatusOr<int> submit(Session& session, v1::ExperimentKind kind, const SpecOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const FailOn fail_on, parse_fail_on(options.fail_on));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(
      const v1::SubmitRequest request,
      make_request(kind, options, *connection, session.console().checkout_folder));
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, connection->submit(request));
  if (options.detach) {
    ASSAY_RETURN_IF_ERROR(session.print(experiment, progress_text(experiment) + "\n"));
    return kFine;
  }
  return follow_and_print(session, experiment.experiment_id(), fail_on);
}

namespace {

// One experiment an operator, one after the other; the worst exit status.
absl::StatusOr<int> calibrate(Session& session, const SpecOptions& options) {
  if (!options.operator_name.empty()) {
    return submit(session, v1::CALIBRATE, options);
  }
  if (!options.request_id.empty()) {
    return absl::InvalidArgumentError("--request-id: name an operator too, one request is for one");
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  SpecOptions one = options;
  ASSAY_ASSIGN_OR_RETURN(one.device, device_or_default(*connection, options.device));
  ASSAY_ASSIGN_OR_RETURN(const v1::ListOperatorsResponse operators,
                         connection->operators(one.device));
  int worst = kFine;
  for (const v1::OperatorInfo& info : operators.operators()) {
    if (info.variants().empty()) {
      continue;
    }
    one.operator_name = info.name();
    ASSAY_ASSIGN_OR_RETURN(const int status, submit(session, v1::CALIBRATE, one));
    worst = std::max(worst, status);
  }
  return worst;
}

void add_submit_command(CLI::App& app,
                        Session& session,
                        v1::ExperimentKind kind,
                        const std::string& name,
                        const std::string& help,
                        const std::string& examples) {
  auto options = std::make_shared<SpecOptions>();
  const auto action = [&session, kind, options]() -> absl::StatusOr<int> {
    if (kind != v1::CHECK) {
      ASSAY_RETURN_IF_ERROR(settle_operator(session, *options));
    }
    return submit(session, kind, *options);
  };
  CLI::App* command = session.add_command(app, name, help, examples, action);
  add_common_options(*command, *options, kind == v1::CHECK);
  if (kind == v1::CHECK) {
    add_check_options(*command, *options);
    return;
  }
  add_source_option(*command, *options);
  add_measure_options(*command, *options);
  if (kind == v1::COMPARE) {
    add_compare_options(*command, *options);
  } else {
    command->add_option("--variant",
                        options->baseline,
                        "VARIANT or VARIANT:NAME=VALUE,...; the operator's first when left out");
  }
}

// What is asked of a device as a whole.
void add_device_commands(CLI::App& app, Session& session) {
  CLI::App* device = app.add_subcommand("device", "A device by itself: bench");
  device->require_subcommand(1);
  auto options = std::make_shared<SpecOptions>();
  CLI::App* bench = session.add_command(
      *device,
      "bench",
      "Measures what a device reads, copies, computes and launches at most; rooflines then have "
      "their ceilings, and `assay devices` shows them",
      kBenchExamples,
      [&session, options] { return submit(session, v1::BENCH, *options); });
  add_request_options(*bench, *options);
}

}  // namespace

void add_experiment_commands(CLI::App& app, Session& session) {
  add_submit_command(
      app,
      session,
      v1::COMPARE,
      "compare",
      "Times candidates against a baseline, bits first: the verdict is faster, same, "
      "slower, undecided or rejected",
      kCompareExamples);
  add_submit_command(app,
                     session,
                     v1::MEASURE,
                     "measure",
                     "Times one variant, without a judgement",
                     kMeasureExamples);
  auto calibration = std::make_shared<SpecOptions>();
  CLI::App* calibrate_command = session.add_command(
      app,
      "calibrate",
      "Times a variant against itself on the named workloads and keeps what it differs by: "
      "verdicts then claim nothing within this noise",
      kCalibrateExamples,
      [&session, calibration] { return calibrate(session, *calibration); });
  add_common_options(*calibrate_command, *calibration, false);
  add_measure_options(*calibrate_command, *calibration);
  calibrate_command->add_option(
      "--variant",
      calibration->baseline,
      "VARIANT or VARIANT:NAME=VALUE,...; the operator's first when left out");

  add_submit_command(app,
                     session,
                     v1::CHECK,
                     "check",
                     "Runs an operator's suites: are the bits of all variants equal, is every "
                     "planted mutant rejected",
                     kCheckExamples);
  add_device_commands(app, session);

  auto id = std::make_shared<std::string>("last");
  auto fail_on = std::make_shared<std::vector<std::string>>();
  CLI::App* watch =
      session.add_command(app,
                          "watch",
                          "Follows an experiment to its end and prints it",
                          "  assay watch last",
                          [&session, id, fail_on]() -> absl::StatusOr<int> {
                            ASSAY_ASSIGN_OR_RETURN(const std::int64_t experiment_id, parse_id(*id));
                            ASSAY_ASSIGN_OR_RETURN(const FailOn wanted, parse_fail_on(*fail_on));
                            return follow_and_print(session, experiment_id, wanted);
                          });
  watch->add_option("id", *id, "a number, or last")->capture_default_str();
  watch->add_option("--fail-on", *fail_on, "slower, undecided or both: exit status 4 and 5")
      ->allow_extra_args(false)
      ->delimiter(',');
}

}  // namespace assay::client
