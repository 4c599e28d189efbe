#include "client/duration.h"
#include "client/input_file.h"
#include "client/numbers.h"
#include "client/query_text.h"
#include "client/session.h"
#include "client/validators.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <iterator>
#include <memory>

namespace assay::client {
namespace {

constexpr char kViews[] =
    "SELECT view, name AS \"column\", meaning FROM columns ORDER BY view, position";
constexpr std::size_t kMaxBytes = 100'000;  // of QueryRequest.sql

constexpr char kExamples[] =
    "  assay query --views\n"
    "  assay query \"SELECT experiment_id, state FROM experiments ORDER BY 1 DESC LIMIT 5\"\n"
    "  assay query --format csv --limit 1000000 --file samples.sql > samples.csv\n"
    "  echo \"SELECT count(*) FROM experiments\" | assay query -";

struct QueryOptions {
  std::string sql;
  std::string file;
  std::uint32_t limit = 10'000;
  std::string deadline;
  bool lists_views = false;
};

// One of the argument, a file and --views.
absl::StatusOr<std::string> chosen_sql(const QueryOptions& options, std::istream& in) {
  const int num_given = (options.sql.empty() ? 0 : 1) + (options.file.empty() ? 0 : 1) +
                        (options.lists_views ? 1 : 0);
  if (num_given != 1) {
    return absl::InvalidArgumentError("expected one of a SELECT, --file and --views");
  }
  if (options.lists_views) {
    return kViews;
  }
  if (!options.file.empty() && options.file != "-") {
    const absl::StatusOr<std::string> text = read_file(options.file, kMaxBytes);
    return text.ok() ? text : proto::annotate(text.status(), "--file: " + options.file);
  }
  if (options.sql != "-" && options.file.empty()) {
    return options.sql;
  }
  std::string text;
  for (std::istreambuf_iterator<char> byte(in), end; byte != end && text.size() <= kMaxBytes;
       ++byte) {
    text += *byte;
  }
  return text;
}

absl::StatusOr<int> query(Session& session, const QueryOptions& options) {
  v1::QueryRequest request;
  ASSAY_ASSIGN_OR_RETURN(*request.mutable_sql(), chosen_sql(options, session.console().in));
  if (!proto::is_utf8(request.sql())) {
    return absl::InvalidArgumentError("sql: is not UTF-8");
  }
  request.set_max_rows(options.limit);
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t deadline_ns,
                         parse_duration("--deadline", options.deadline));
  request.set_deadline_ns(deadline_ns);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  QueryText text(session.format(), session.console().out);
  ASSAY_RETURN_IF_ERROR(
      connection->query(request, [&text](const v1::QueryChunk& chunk) { text.add(chunk); }));
  text.finish();
  if (!text.truncated().empty()) {
    session.console().err << "cut at the limit of " << text.truncated() << "; "
                          << counted(text.num_rows(), "row") << " shown (see --limit)\n";
  }
  return kFine;
}

}  // namespace

void add_query_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = session.add_command(
      app,
      "query",
      "Answers one SELECT over the views of everything that is stored; it cannot change anything",
      kExamples,
      [&session, options] { return query(session, *options); });
  command->add_option("sql", options->sql, "one SELECT; -: read from standard input");
  command->add_option("--file", options->file, "a file with one SELECT; -: standard input");
  command->add_flag("--views", options->lists_views, "lists the views, their columns and meaning");
  command->add_option("--limit", options->limit, "at most so many rows, up to 1,000,000")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--deadline", options->deadline, "as in 30s, at most 60s; 10s");
}

}  // namespace assay::client
