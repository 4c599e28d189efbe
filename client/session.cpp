#include "client/session.h"

#include "client/commands.h"
#include "client/json.h"
#include "client/numbers.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace assay::client {
namespace {

constexpr char kDescription[] =
    "assay runs two variants of a GPU kernel against each other, proves that their bits are equal "
    "and says which is faster. It talks to the daemon assayd.";

constexpr char kFooter[] =
    "Exit status: 0 fine; 1 could not be carried out, failed or cancelled; 2 wrong usage;\n"
    "3 rejected, a mutant survived or a receipt differs; with --fail-on 4 slower, 5 undecided,\n"
    "6 a regression.\n"
    "An ID is a number, or `last` for the newest experiment.\n"
    "Start with `assay operators`, then `assay compare --help`.";

// The deepest command that was named, for its help.
const CLI::App* named_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
  }
  return command;
}

std::string path_of(const CLI::App* command) {
  std::string path = command->get_name();
  for (const CLI::App* parent = command->get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    path = absl::StrCat(parent->get_name(), " ", path);
  }
  return path;
}

// Where the first command stands, behind the program's own option.
std::size_t first_command(const std::vector<std::string>& arguments) {
  std::size_t place = 0;
  while (place < arguments.size() && arguments[place].starts_with("--address")) {
    place += arguments[place] == "--address" ? 2 : 1;
  }
  return place;
}

// The parser asks for a command where an unknown one was typed; this names it.
std::string parse_error_text(const CLI::App& app,
                             const std::vector<std::string>& arguments,
                             const CLI::ParseError& error) {
  const CLI::App* command = named_command(app);
  const auto known = command->get_subcommands([](const CLI::App*) { return true; });
  const std::size_t place = first_command(arguments) + (command == &app ? 0 : 1);
  if (known.empty() || place >= arguments.size() || arguments[place].starts_with('-')) {
    return error.what();
  }
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const CLI::App* other : known) {
    names.push_back(other->get_name());
  }
  std::ranges::sort(names);
  return absl::StrCat(
      "unknown command `", arguments[place], "`: expected one of ", absl::StrJoin(names, ", "));
}

}  // namespace

void Session::add_address(CLI::App& app) {
  app.add_option("--address", address_, "the daemon, unix:PATH or HOST:PORT (ASSAY_ADDRESS)");
}

CLI::App* Session::add_command(CLI::App& parent,
                               const std::string& name,
                               const std::string& help,
                               const std::string& examples,
                               std::function<absl::StatusOr<int>()> action) {
  CLI::App* command = add_local_command(parent, name, help, examples, std::move(action));
  add_address(*command);
  return command;
}

CLI::App* Session::add_local_command(CLI::App& parent,
                                     const std::string& name,
                                     const std::string& help,
                                     const std::string& examples,
                                     std::function<absl::StatusOr<int>()> action) {
  CLI::App* command = parent.add_subcommand(name, help);
  command->add_option("--format", format_name_, "table, markdown, csv or json")
      ->capture_default_str();
  command->footer(absl::StrCat("Examples:\n", examples));
  command->callback([this, action = std::move(action)] { action_ = action; });
  return command;
}

absl::StatusOr<int> Session::run() {
  ASSAY_ASSIGN_OR_RETURN(format_, parse_format(format_name_));
  return action_();
}

absl::StatusOr<Connection*> Session::connect() {
  if (connection_ == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(connection_, Connection::open(address_, console_.interrupter));
  }
  return connection_.get();
}

absl::Status Session::print(const google::protobuf::Message& message,
                            const std::string& text) const {
  if (format_ != Format::kJson) {
    console_.out << text << std::flush;
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string json, json_text(message));
  console_.out << json << std::flush;
  return absl::OkStatus();
}

absl::Status Session::print_list(const google::protobuf::Message& message,
                                 const std::string& text,
                                 bool has_rows,
                                 const std::string& nothing) const {
  return print(message, has_rows || format_ == Format::kCsv ? text : nothing);
}

absl::StatusOr<std::int64_t> parse_id(const std::string& text) {
  std::int64_t id = 0;
  if (text == "last") {
    return id;
  }
  if (!absl::SimpleAtoi(text, &id) || id < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("experiment `", text, "`: expected a number from 1, or last"));
  }
  return id;
}

CLI::Option* add_limit(CLI::App& command, std::uint32_t& limit) {
  return command.add_option("--limit", limit, "rows of a page, at most 1,000")
      ->check(CLI::Range(kMostRows))
      ->capture_default_str();
}

int run(const std::vector<std::string>& arguments, const Console& console) {
  CLI::App app(kDescription, "assay");
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", console.version);
  Session session(console);
  session.add_address(app);
  add_experiment_commands(app, session);
  add_history_commands(app, session);
  add_list_command(app, session);
  add_trace_command(app, session);
  add_catalogue_commands(app, session);
  add_bits_commands(app, session);
  add_recording_commands(app, session);
  add_archive_commands(app, session);
  add_receipt_command(app, session);
  add_sweep_command(app, session);
  add_tuning_commands(app, session);
  add_query_command(app, session);
  add_trend_command(app, session);
  add_regressions_command(app, session);
  if (const auto bad = std::ranges::find_if_not(arguments, proto::is_utf8);
      bad != arguments.end()) {
    console.err << "assay: argument " << bad - arguments.begin() + 1 << " is not UTF-8\n";
    return kWrongUsage;
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(std::move(reversed));
  } catch (const CLI::Success& request) {
    // Help and version come as exceptions of the parser.
    return app.exit(request, console.out, console.err);
  } catch (const CLI::ParseError& error) {
    console.err << "assay: " << one_line(parse_error_text(app, arguments, error)) << " (see `"
                << path_of(named_command(app)) << " --help`)\n";
    return kWrongUsage;
  }
  const absl::StatusOr<int> status = session.run();
  if (!status.ok()) {
    console.err << "assay: " << absl::StatusCodeToString(status.status().code()) << ": "
                << one_line(std::string(status.status().message())) << "\n";
    return exit_status(status.status());
  }
  return *status;
}

}  // namespace assay::client
