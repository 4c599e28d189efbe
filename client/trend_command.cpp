#include "client/axis.h"
#include "client/modes.h"
#include "client/nothing_text.h"
#include "client/regressions_text.h"
#include "client/session.h"
#include "client/trend_text.h"
#include "client/validators.h"
#include "proto/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace assay::client {
namespace {

struct TrendOptions {
  bool lists = false;
  std::int64_t series_id = 0;
  std::string operator_name;
  std::string workload;
  std::vector<std::string> axes;
  std::string variant;
  std::string arm;
  std::string stage;
  std::string device;
  std::string cache;
  std::string launch_mode;
  std::string timing;
  std::string order;
  std::string branch;
  std::uint32_t limit = 0;
  std::string page;
};

struct RegressionOptions {
  std::string state;
  bool all = false;
  std::string operator_name;
  std::string device;
  std::string fail_on;
  std::uint32_t limit = 100;
  std::string page;
};

struct AcknowledgeOptions {
  std::int64_t id = 0;
  std::string reason;
};

// "by-commit" is BY_COMMIT.
template <typename Enum, typename Parse>
absl::StatusOr<Enum> parse_name(const std::string& option,
                                const std::string& name,
                                const std::string& expected,
                                const Parse& parse) {
  Enum value{};
  std::string upper = absl::AsciiStrToUpper(name);
  std::ranges::replace(upper, '-', '_');
  if (name.empty() || (parse(upper, &value) && value != Enum{})) {
    return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": `", name, "`: expected one of ", expected));
}

// The axes of a named workload of the operator.
absl::Status add_workload(Session& session,
                          const TrendOptions& options,
                          v1::TrendRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListOperatorsResponse there, connection->operators(""));
  for (const v1::OperatorInfo& info : there.operators()) {
    for (const v1::NamedWorkload& workload : info.workloads()) {
      if (info.name() == options.operator_name && workload.name() == options.workload) {
        *request.mutable_axes() = workload.axes();
        return absl::OkStatus();
      }
    }
  }
  return absl::NotFoundError(absl::StrCat("--workload: `",
                                          options.operator_name,
                                          "` has no workload `",
                                          options.workload,
                                          "`; see `assay operators ",
                                          options.operator_name,
                                          "`"));
}

// Those of a named workload give way.
absl::Status add_axes(const TrendOptions& options, v1::TrendRequest& request) {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Axis> axes, parse_axes(options.axes));
  for (const v1::Axis& axis : axes) {
    if (axis.values_size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("-a ", axis.name(), ": a trend is of one value"));
    }
    v1::Setting& setting = *request.add_axes();
    setting.set_name(axis.name());
    setting.set_value(axis.values(0));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::TrendRequest> trend_request(Session& session, const TrendOptions& options) {
  v1::TrendRequest request;
  request.set_series_id(options.series_id);
  request.set_operator_name(options.operator_name);
  if (!options.workload.empty()) {
    ASSAY_RETURN_IF_ERROR(add_workload(session, options, request));
  }
  ASSAY_RETURN_IF_ERROR(add_axes(options, request));
  request.set_variant(options.variant);
  request.set_arm(options.arm);
  request.set_stage(options.stage);
  request.set_device(options.device);
  ASSAY_ASSIGN_OR_RETURN(const v1::CacheMode cache, parse_cache(options.cache));
  request.set_cache_mode(cache);
  ASSAY_ASSIGN_OR_RETURN(const v1::LaunchMode launch_mode, parse_launch_mode(options.launch_mode));
  request.set_launch_mode(launch_mode);
  ASSAY_ASSIGN_OR_RETURN(const v1::TimingSource timing, parse_timing(options.timing));
  request.set_timing_source(timing);
  ASSAY_ASSIGN_OR_RETURN(
      const auto order,
      parse_name<v1::SeriesOrder>("--order",
                                  options.order,
                                  "commit, time",
                                  [](const std::string& name, v1::SeriesOrder* order) {
                                    return v1::SeriesOrder_Parse("BY_" + name, order);
                                  }));
  request.set_order(order);
  request.set_branch(options.branch);
  request.set_max_points(options.limit);
  return request;
}

absl::StatusOr<int> list_series(Session& session, const TrendOptions& options) {
  v1::ListSeriesRequest request;
  request.set_operator_name(options.operator_name);
  request.set_device(options.device);
  request.set_variant(options.variant);
  request.set_stage(options.stage);
  request.set_page_size(options.limit);
  request.set_page_token(options.page);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListSeriesResponse response, connection->list_series(request));
  ASSAY_RETURN_IF_ERROR(
      session.print_list(response,
                         series_list_text(response, session.format()),
                         !response.series().empty(),
                         nothing_text(request, "series", "`assay measure OPERATOR` begins some")));
  if (!response.next_page_token().empty() && session.format() != Format::kJson) {
    session.console().err << "more: assay trend --list --page " << response.next_page_token()
                          << "\n";
  }
  return kFine;
}

absl::StatusOr<int> show_trend(Session& session, const TrendOptions& options) {
  if (options.lists) {
    return list_series(session, options);
  }
  if (options.operator_name.empty() && options.series_id == 0) {
    return absl::InvalidArgumentError(
        "operator: name one, or a series with --series, or all of them with --list");
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::TrendRequest request, trend_request(session, options));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::TrendResponse response, connection->trend(request));
  ASSAY_RETURN_IF_ERROR(session.print(response, trends_text(response, session.format())));
  return kFine;
}

// What is open is no filter that somebody typed.
std::string no_regression_text(v1::ListRegressionsRequest request) {
  const bool only_open = request.only_open();
  request.clear_only_open();
  return only_open
             ? nothing_text(
                   request, "open regression", "`assay regressions --all` shows closed ones too")
             : nothing_text(request, "regression", "trends find them, see `assay trend --list`");
}

absl::StatusOr<int> list_regressions(Session& session, const RegressionOptions& options) {
  v1::ListRegressionsRequest request;
  ASSAY_ASSIGN_OR_RETURN(const auto state,
                         parse_name<v1::RegressionState>(
                             "--state",
                             options.state,
                             "acknowledged, confirmed, detected, fixed, refuted, unconfirmable",
                             v1::RegressionState_Parse));
  ASSAY_ASSIGN_OR_RETURN(const FailOnRegression fail_on, parse_fail_on_regression(options.fail_on));
  request.set_state(state);
  request.set_only_open(options.state.empty() && !options.all);
  request.set_operator_name(options.operator_name);
  request.set_device(options.device);
  request.set_page_size(options.limit);
  request.set_page_token(options.page);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListRegressionsResponse response,
                         connection->list_regressions(request));
  ASSAY_RETURN_IF_ERROR(session.print_list(response,
                                           regressions_text(response, session.format()),
                                           !response.regressions().empty(),
                                           no_regression_text(request)));
  if (!response.next_page_token().empty() && session.format() != Format::kJson) {
    session.console().err << "older ones: assay regressions --page " << response.next_page_token()
                          << "\n";
  }
  return exit_status(response, fail_on);
}

absl::StatusOr<int> acknowledge(Session& session, const AcknowledgeOptions& options) {
  v1::AcknowledgeRequest request;
  request.set_regression_id(options.id);
  request.set_reason(options.reason);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::Regression regression, connection->acknowledge(request));
  v1::ListRegressionsResponse one;
  *one.add_regressions() = regression;
  ASSAY_RETURN_IF_ERROR(session.print(regression, regressions_text(one, session.format())));
  return kFine;
}

}  // namespace

void add_trend_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<TrendOptions>();
  CLI::App* trend = session.add_command(
      app,
      "trend",
      "Times of one arm over runs, one series a device, with the places where the level changes",
      "  assay trend --list\n"
      "  assay trend qsa_decode -a kv=int8 -a width=32768\n"
      "  assay trend calibration --workload c20 --variant plain\n"
      "  assay trend qsa_decode --variant two_cell --device h200 --order commit\n"
      "  assay trend --series 12 --format csv",
      [&session, options] { return show_trend(session, *options); });
  trend->add_option("operator", options->operator_name, "see `assay trend --list`");
  trend->add_flag("--list", options->lists, "what there are series of, the newest first");
  trend->add_option("--series", options->series_id, "a series by its number")->check(at_least(1));
  trend->add_option("--workload", options->workload, "a named workload of the operator");
  trend->add_option("-a,--axis", options->axes, "NAME=VALUE; others at their default")
      ->allow_extra_args(false);
  trend->add_option("--variant", options->variant, "left out: best, the fastest arm of each run");
  trend->add_option("--arm", options->arm, "left out: the variant's arm with the most points");
  trend->add_option("--stage", options->stage, "left out: total; with --list, all is every stage");
  trend->add_option("--device", options->device, "name or UUID; left out: each by itself");
  trend->add_option("--cache", options->cache, "hot or cold; left out: what has the most points");
  trend->add_option("--launch-mode,--launch", options->launch_mode, "stream or graph; likewise");
  trend->add_option("--timing", options->timing, "activity, events or clock; likewise");
  trend->add_option("--order", options->order, "time, or commit: by the commits' own time");
  trend->add_option("--branch", options->branch, "only what was measured on this branch");
  trend
      ->add_option("--limit",
                   options->limit,
                   "the newest points (left out: 500), or rows of --list; at most 1,000")
      ->check(CLI::Range(kMostRows));
  trend->add_option("--page", options->page, "where the page of --list before ended");
}

void add_regressions_command(CLI::App& app, Session& session) {
  auto listed = std::make_shared<RegressionOptions>();
  auto acknowledged = std::make_shared<AcknowledgeOptions>();
  auto acknowledges = std::make_shared<CLI::App*>(nullptr);
  CLI::App* regressions = session.add_command(
      app,
      "regressions",
      "Where series became slower, and whether a run of the same code confirmed it; newest first",
      "  assay regressions\n"
      "  assay regressions --fail-on confirmed\n"
      "  assay regressions --state fixed --operator qsa_decode\n"
      "  assay regressions acknowledge 7 --reason 'the price of the wider tile'",
      [&session, listed, acknowledged, acknowledges] {
        return (*acknowledges)->parsed() ? acknowledge(session, *acknowledged)
                                         : list_regressions(session, *listed);
      });
  regressions->add_option(
      "--state",
      listed->state,
      "detected, confirmed, unconfirmable, refuted, acknowledged or fixed; left out: what is open");
  regressions->add_flag("--all", listed->all, "closed ones too: refuted, acknowledged and fixed");
  regressions->add_option("--operator", listed->operator_name, "only this operator");
  regressions->add_option("--device", listed->device, "name or UUID");
  regressions->add_option(
      "--fail-on",
      listed->fail_on,
      "exit status 6: confirmed, for a confirmed one; detected, for any that is open");
  add_limit(*regressions, listed->limit);
  regressions->add_option("--page", listed->page, "where the page before ended");

  *acknowledges = session.add_command(*regressions,
                                      "acknowledge",
                                      "Accepts that it is slower, with a reason",
                                      "  assay regressions acknowledge 7 --reason 'wider tile'",
                                      [] { return kFine; });
  (*acknowledges)->add_option("id", acknowledged->id, "of the regression")->required();
  (*acknowledges)->add_option("--reason", acknowledged->reason, "why it may be slower")->required();
}

}  // namespace assay::client
