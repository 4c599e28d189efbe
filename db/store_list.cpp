// Pages of experiments. A page is cut on an index alone, whose text holds only the filters that are
// set: the planner and each row are spared the rest.
#include "db/json.h"
#include "db/sqlite_store.h"
#include "db/statement.h"
#include "db/store_read.h"
#include "proto/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <variant>

namespace assay::db {
namespace {

constexpr std::uint32_t kDefaultPage = 50;
constexpr std::uint32_t kMaxPage = 1'000;  // of ListRequest.page_size
constexpr std::size_t kLeastCommitDigits = 4;
constexpr std::size_t kMaxCommitDigits = 64;
constexpr int kMaxLabels = 32;

// Conditions on t_experiment p, and what their parameters are bound to.
struct Filter {
  std::string sql;
  std::vector<std::variant<std::int64_t, std::string>> values;

  template <typename... Values>
  void add(std::string_view condition, const Values&... bound) {
    absl::StrAppend(&sql, sql.empty() ? " WHERE " : " AND ", std::string(condition));
    (values.emplace_back(bound), ...);
  }

  void bind(Statement& statement) const {
    int parameter = 0;
    for (const auto& value : values) {
      std::visit([&](const auto& bound) { statement.bind(++parameter, bound); }, value);
    }
  }
};

absl::StatusOr<std::int64_t> id_of_token(const std::string& token) {
  std::int64_t id = 0;
  if (token.empty()) {
    return std::numeric_limits<std::int64_t>::max();
  }
  if (token[0] != 'e' || !absl::SimpleAtoi(token.substr(1), &id) || id <= 0) {
    return absl::InvalidArgumentError("page_token: is not one that List returned");
  }
  return id;
}

absl::Status check_enums(const v1::ListRequest& request) {
  const auto refuse = [](std::string_view field, int value) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(field), ": there is no such value, ", value));
  };
  if (!v1::TaskState_IsValid(request.state())) {
    return refuse("state", request.state());
  }
  if (!v1::ExperimentKind_IsValid(request.kind())) {
    return refuse("kind", request.kind());
  }
  if (!v1::VerdictKind_IsValid(request.verdict())) {
    return refuse("verdict", request.verdict());
  }
  return absl::OkStatus();
}

absl::Status check(const v1::ListRequest& request) {
  ASSAY_RETURN_IF_ERROR(check_enums(request));
  if (request.page_size() > kMaxPage) {
    return absl::InvalidArgumentError("page_size: must be at most 1,000");
  }
  const std::string& commit = request.commit();
  if (!commit.empty() &&
      (commit.size() < kLeastCommitDigits || commit.size() > kMaxCommitDigits ||
       !std::ranges::all_of(commit, [](char digit) { return absl::ascii_isxdigit(digit); }))) {
    return absl::InvalidArgumentError(
        absl::StrCat("commit: `", commit, "` must be 4 to 64 hexadecimal digits"));
  }
  if (request.labels_size() > kMaxLabels) {
    return absl::InvalidArgumentError("labels: must be at most 32");
  }
  for (int i = 0; i < request.labels_size(); ++i) {
    if (request.labels(i).name().empty()) {
      return absl::InvalidArgumentError(absl::StrCat("labels[", i, "].name: must not be empty"));
    }
  }
  if (request.submitted_after_ns() < 0 || request.submitted_before_ns() < 0) {
    return absl::InvalidArgumentError(
        "submitted_after_ns, submitted_before_ns: must not be negative");
  }
  return absl::OkStatus();
}

// t_verdict.severity.
int severity_of(v1::VerdictKind verdict) {
  switch (verdict) {
    case v1::REJECTED:
      return 1;
    case v1::SLOWER:
      return 2;
    case v1::UNDECIDED:
      return 3;
    case v1::SAME:
      return 4;
    case v1::FASTER:
      return 5;
    case v1::NOT_JUDGED:
      return 6;
    default:
      return 7;
  }
}

// What the spec says of the experiment.
absl::Status add_spec_filters(const v1::ListRequest& request, Filter& filter) {
  if (!request.operator_name().empty()) {
    filter.add("p.operator_name = ?", request.operator_name());
  }
  if (!request.device().empty()) {
    filter.add(
        "(p.device = ? OR p.device_id IN (SELECT device_id FROM t_device"
        " WHERE device ->> '$.uuid' = ?))",
        request.device(),
        request.device());
  }
  if (request.kind() != v1::EXPERIMENT_KIND_UNSPECIFIED) {
    filter.add("p.kind = ?", v1::ExperimentKind_Name(request.kind()));
  }
  if (!request.variant().empty()) {
    // As the name stands in the array, in its quotes.
    ASSAY_ASSIGN_OR_RETURN(const std::string array, texts_to_json({request.variant()}));
    filter.add("instr(p.variants, ?)", array.substr(1, array.size() - 2));
  }
  if (!request.commit().empty()) {
    const std::string commit = absl::AsciiStrToLower(request.commit());
    filter.add(R"(p."commit" >= ? AND p."commit" < ?)", commit, commit + "g");
  }
  if (!request.branch().empty()) {
    filter.add("p.branch = ?", request.branch());
  }
  for (const v1::Setting& label : request.labels()) {
    constexpr char kLabel[] =
        "EXISTS (SELECT 1 FROM t_label l WHERE l.experiment_id = p.experiment_id AND l.name = ?";
    if (label.value().empty()) {
      filter.add(absl::StrCat(kLabel, ")"), label.name());
    } else {
      filter.add(absl::StrCat(kLabel, " AND l.value = ?)"), label.name(), label.value());
    }
  }
  return absl::OkStatus();
}

// What became of it, and when.
void add_result_filters(const v1::ListRequest& request, Filter& filter) {
  if (request.state() != v1::TASK_STATE_UNSPECIFIED) {
    filter.add("p.state = ?", v1::TaskState_Name(request.state()));
  }
  if (request.verdict() != v1::VERDICT_KIND_UNSPECIFIED) {
    // As the view experiments says: losing a race is no verdict on the sweep.
    filter.add("iif(p.kind = 'SWEEP' AND p.severity BETWEEN 2 AND 5, 6, p.severity) = ?",
               std::int64_t{severity_of(request.verdict())});
  }
  if (request.submitted_after_ns() != 0) {
    filter.add("p.submitted_ns >= ?", std::int64_t{request.submitted_after_ns()});
  }
  if (request.submitted_before_ns() != 0) {
    filter.add("p.submitted_ns < ?", std::int64_t{request.submitted_before_ns()});
  }
  if (request.only_changes()) {
    filter.add("EXISTS (SELECT 1 FROM t_change c WHERE c.experiment_id = p.experiment_id)");
  }
}

std::string list_sql(const v1::ListRequest& request, const Filter& filter) {
  const bool is_rare = request.state() != v1::TASK_STATE_UNSPECIFIED && request.state() != v1::DONE;
  return absl::StrCat(
      select_experiments_sql(absl::StrCat("(SELECT p.experiment_id FROM t_experiment p INDEXED BY ",
                                          is_rare ? "t_experiment_state" : "t_experiment_page",
                                          filter.sql,
                                          " ORDER BY p.experiment_id DESC LIMIT ?)")),
      " ORDER BY experiment_id DESC");
}

}  // namespace

absl::StatusOr<v1::ListResponse> SqliteStore::list(const v1::ListRequest& request) const {
  ASSAY_RETURN_IF_ERROR(check(request));
  const std::uint32_t size = request.page_size() == 0 ? kDefaultPage : request.page_size();
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t before, id_of_token(request.page_token()));
  Filter filter;
  filter.add("p.experiment_id < ?", before);
  ASSAY_RETURN_IF_ERROR(add_spec_filters(request, filter));
  add_result_filters(request, filter);
  const std::string sql = list_sql(request, filter);
  filter.values.emplace_back(std::int64_t{size} + 1);
  return readers_.read([&](Connection& connection) -> absl::StatusOr<v1::ListResponse> {
    ASSAY_ASSIGN_OR_RETURN(Statement rows, connection.prepare(sql));
    filter.bind(rows);
    ASSAY_ASSIGN_OR_RETURN(std::vector<v1::Experiment> experiments, read_experiments(rows));
    v1::ListResponse response;
    if (experiments.size() > size) {
      experiments.pop_back();
      response.set_next_page_token(absl::StrCat("e", experiments.back().experiment_id()));
    }
    for (v1::Experiment& experiment : experiments) {
      *response.add_experiments() = std::move(experiment);
    }
    return response;
  });
}

}  // namespace assay::db
