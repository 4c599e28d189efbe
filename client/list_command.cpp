#include "client/history_text.h"
#include "client/moment.h"
#include "client/nothing_text.h"
#include "client/session.h"
#include "proto/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

namespace assay::client {
namespace {

constexpr char kExamples[] =
    "  assay list --state done --operator qsa_decode --limit 10\n"
    "  assay list --label pr=1234 --label nightly --verdict rejected\n"
    "  assay list --commit 2e52f37 --variant two_cell\n"
    "  assay list --branch main --since 3d --only-changes";

struct ListOptions {
  std::uint32_t limit = 50;
  std::string page;
  std::string state;
  std::string operator_name;
  std::string device;
  std::string variant;
  std::string kind;
  std::string verdict;
  std::string commit;
  std::string branch;
  std::vector<std::string> labels;
  std::string since;
  std::string until;
  bool only_changes = false;
};

// A value of an enum as people write it: in small letters, with - for _. Unspecified when empty.
template <typename Enum>
absl::StatusOr<Enum> parse_enum(const std::string& option,
                                const std::string& text,
                                bool (*parse)(google::protobuf::ConstStringParam, Enum*),
                                const google::protobuf::EnumDescriptor& names) {
  Enum value{};
  const std::string name = absl::StrReplaceAll(absl::AsciiStrToUpper(text), {{"-", "_"}});
  if (text.empty() || (parse(name, &value) && value != Enum{})) {
    return value;
  }
  std::vector<std::string> known;
  for (int i = 1; i < names.value_count(); ++i) {
    known.push_back(
        absl::StrReplaceAll(absl::AsciiStrToLower(names.value(i)->name()), {{"_", "-"}}));
  }
  std::ranges::sort(known);
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": `", text, "`: expected one of ", absl::StrJoin(known, ", ")));
}

// 0 where nothing was typed.
absl::StatusOr<std::int64_t> moment_of(const std::string& option, const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  const std::int64_t now_ns =
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  const absl::StatusOr<std::int64_t> moment_ns = parse_moment(text, now_ns);
  return moment_ns.ok() ? moment_ns : proto::annotate(moment_ns.status(), option);
}

absl::StatusOr<v1::ListRequest> request_of(const ListOptions& options) {
  v1::ListRequest request;
  request.set_page_size(options.limit);
  request.set_page_token(options.page);
  request.set_operator_name(options.operator_name);
  request.set_device(options.device);
  request.set_variant(options.variant);
  request.set_commit(options.commit);
  request.set_branch(options.branch);
  request.set_only_changes(options.only_changes);
  ASSAY_ASSIGN_OR_RETURN(
      const v1::TaskState state,
      parse_enum("--state", options.state, &v1::TaskState_Parse, *v1::TaskState_descriptor()));
  request.set_state(state);
  ASSAY_ASSIGN_OR_RETURN(
      const v1::ExperimentKind kind,
      parse_enum(
          "--kind", options.kind, &v1::ExperimentKind_Parse, *v1::ExperimentKind_descriptor()));
  request.set_kind(kind);
  ASSAY_ASSIGN_OR_RETURN(
      const v1::VerdictKind verdict,
      parse_enum(
          "--verdict", options.verdict, &v1::VerdictKind_Parse, *v1::VerdictKind_descriptor()));
  request.set_verdict(verdict);
  for (const std::string& text : options.labels) {
    const std::size_t end = std::min(text.find('='), text.size());
    v1::Setting& label = *request.add_labels();
    label.set_name(text.substr(0, end));
    label.set_value(text.substr(std::min(end + 1, text.size())));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t since_ns, moment_of("--since", options.since));
  request.set_submitted_after_ns(since_ns);
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t until_ns, moment_of("--until", options.until));
  request.set_submitted_before_ns(until_ns);
  return request;
}

absl::StatusOr<int> list(Session& session, const ListOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(const v1::ListRequest request, request_of(options));
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListResponse response, connection->list(request));
  ASSAY_RETURN_IF_ERROR(session.print_list(
      response,
      experiments_text(response, session.format()),
      !response.experiments().empty(),
      nothing_text(request, "experiment", "`assay compare OPERATOR` makes one")));
  if (!response.next_page_token().empty() && session.format() != Format::kJson) {
    session.console().err << "older ones: the same with --page " << response.next_page_token()
                          << "\n";
  }
  return kFine;
}

}  // namespace

void add_list_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command =
      session.add_command(app,
                          "list",
                          "Lists experiments, newest first; of several filters all must hold",
                          kExamples,
                          [&session, options] { return list(session, *options); });
  add_limit(*command, options->limit);
  command->add_option("--page", options->page, "where the page before ended");
  command->add_option(
      "--state", options->state, "queued, running, done, failed, cancelled or interrupted");
  command->add_option("--operator", options->operator_name, "only this operator");
  command->add_option("--device", options->device, "only this device, by name or UUID");
  command->add_option("--variant", options->variant, "of any arm");
  command->add_option(
      "--kind", options->kind, "compare, measure, check, calibrate, bench or sweep");
  command->add_option("--verdict",
                      options->verdict,
                      "the worst one: rejected, slower, undecided, same, faster or not-judged");
  command->add_option("--commit", options->commit, "its first digits, at least 4");
  command->add_option("--branch", options->branch, "of the checkout");
  command->add_option("--label", options->labels, "NAME=VALUE, or NAME for any value; repeatable")
      ->allow_extra_args(false);
  command->add_option("--since", options->since, "submitted then or later: 2026-01-31, 2h, 3d ago");
  command->add_option("--until", options->until, "submitted earlier than then");
  command->add_flag(
      "--only-changes", options->only_changes, "at which a time, bits, code or resources changed");
}

}  // namespace assay::client
