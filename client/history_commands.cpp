#include "client/counters_report.h"
#include "client/duration.h"
#include "client/numbers.h"
#include "client/progress.h"
#include "client/report.h"
#include "client/session.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <memory>

namespace assay::client {
namespace {

struct ShowOptions {
  std::string id = "last";
  bool with_samples = false;
  bool explains = false;
  bool shows_counters = false;
  bool shows_roofline = false;
};

struct JudgeOptions {
  std::string id = "last";
  std::string least_effect;
};

// The part of an experiment with arms that was asked for instead of the whole; empty: the whole.
absl::StatusOr<std::string> part_text(const v1::Experiment& experiment,
                                      const ShowOptions& options,
                                      Format format) {
  const std::string option = options.explains         ? "--explain"
                             : options.shows_counters ? "--counters"
                             : options.shows_roofline ? "--roofline"
                                                      : "";
  // The raw rows of an explanation are those of the table.
  if (option.empty() || format == Format::kJson || (options.explains && format == Format::kCsv)) {
    return "";
  }
  const v1::ExperimentKind kind = experiment.spec().kind();
  if (kind == v1::CHECK || kind == v1::BENCH) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": a ", v1::ExperimentKind_Name(kind), " times no arms; leave it out"));
  }
  return options.explains         ? explanation_text(experiment, format)
         : options.shows_counters ? counters_text(experiment, format)
                                  : roofline_text(experiment, format);
}

absl::StatusOr<int> show(Session& session, const ShowOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(options.id));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  // An explanation needs the samples of the passes that are not judged.
  const bool is_text = session.format() == Format::kTable || session.format() == Format::kMarkdown;
  ASSAY_ASSIGN_OR_RETURN(
      const v1::Experiment experiment,
      connection->get(id, options.with_samples || (options.explains && is_text)));
  ASSAY_ASSIGN_OR_RETURN(std::string text, part_text(experiment, options, session.format()));
  if (text.empty()) {
    ASSAY_ASSIGN_OR_RETURN(text,
                           experiment_text(experiment, session.format(), options.with_samples));
  }
  session.console().out << text << std::flush;
  return kFine;
}

absl::StatusOr<int> judge(Session& session, const JudgeOptions& options) {
  v1::JudgeRequest request;
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(options.id));
  request.set_experiment_id(id);
  ASSAY_ASSIGN_OR_RETURN(const double effect, parse_effect("--least-effect", options.least_effect));
  request.set_least_effect(effect);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::JudgeResponse response, connection->judge(request));
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment,
                         connection->get(response.experiment().experiment_id(), false));
  ASSAY_ASSIGN_OR_RETURN(const std::string text,
                         experiment_text(experiment, session.format(), false));
  session.console().out << text << std::flush;
  session.console().err << counted(response.num_judged(), "verdict") << " made again; added, as "
                        << "otherwise than the newest before: " << with_commas(response.num_added())
                        << "\n";
  return kFine;
}

absl::StatusOr<int> cancel(Session& session, const std::string& text) {
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(text));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::Experiment experiment, connection->cancel(id));
  ASSAY_RETURN_IF_ERROR(session.print(experiment, progress_text(experiment) + "\n"));
  return kFine;
}

}  // namespace

void add_history_commands(CLI::App& app, Session& session) {
  auto shown = std::make_shared<ShowOptions>();
  CLI::App* show_command = session.add_command(app,
                                               "show",
                                               "Prints a stored experiment again",
                                               "  assay show last\n"
                                               "  assay show 12 --format markdown\n"
                                               "  assay show 12 --explain\n"
                                               "  assay show 12 --roofline\n"
                                               "  assay show 12 --samples --format csv",
                                               [&session, shown] { return show(session, *shown); });
  show_command->add_option("id", shown->id, "a number, or last")->capture_default_str();
  show_command->add_flag(
      "--samples", shown->with_samples, "also clocks and times of every block; csv: every sample");
  CLI::Option* explain = show_command->add_flag(
      "--explain", shown->explains, "every figure that the verdicts rest on, instead of the table");
  CLI::Option* counters =
      show_command
          ->add_flag("--counters",
                     shown->shows_counters,
                     "only the hardware counters; csv: every metric of every kernel")
          ->excludes(explain);
  show_command
      ->add_flag("--roofline",
                 shown->shows_roofline,
                 "only the arithmetic for each byte, the rates, and what bounds them")
      ->excludes(explain)
      ->excludes(counters);

  auto judged = std::make_shared<JudgeOptions>();
  CLI::App* judge_command = session.add_command(
      app,
      "judge",
      "Judges stored samples again, by the newest rule and the noise that is stored now; a verdict "
      "that comes out otherwise is added, none is overwritten",
      "  assay judge last\n"
      "  assay judge 12 --least-effect 0.5%",
      [&session, judged] { return judge(session, *judged); });
  judge_command->add_option("id", judged->id, "a number, or last")->capture_default_str();
  judge_command->add_option("--least-effect",
                            judged->least_effect,
                            "the smallest difference that counts; as the experiment asked");

  auto cancelled = std::make_shared<std::string>();
  CLI::App* cancel_command =
      session.add_command(app,
                          "cancel",
                          "Ends a queued or running experiment; what is finished is kept",
                          "  assay cancel 12",
                          [&session, cancelled] { return cancel(session, *cancelled); });
  cancel_command->add_option("id", *cancelled, "a number, or last")->required();
}

}  // namespace assay::client
