#include "client/input_file.h"
#include "client/json.h"
#include "client/numbers.h"
#include "client/session.h"
#include "client/validators.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "google/protobuf/util/json_util.h"

#include <array>
#include <cctype>
#include <cstdint>
#include <memory>
#include <pwd.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace assay::client {
namespace {

constexpr std::size_t kMaxReceiptBytes = 16 << 20;

struct ReceiptOptions {
  std::vector<std::string> ids = {"last"};
  std::string as_of;
  std::int64_t judged_until_ns = 0;
  std::string format = "markdown";
  std::string output;  // empty: standard output
  bool overwrites = false;
  std::string verified;  // a file; empty: a receipt is made
};

// In UTC unless it names its zone. 0 for an empty text.
absl::StatusOr<std::int64_t> parse_time(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  absl::Time time;
  std::string error;
  for (const char* form : {"%Y-%m-%d%ET%H:%M:%E*S%Ez", "%Y-%m-%d %H:%M:%E*S", "%Y-%m-%d"}) {
    if (absl::ParseTime(form, text, absl::UTCTimeZone(), &time, &error) &&
        time > absl::UnixEpoch()) {
      return absl::ToUnixNanos(time);
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--as-of: `",
      text,
      "`: expected 2026-01-31, \"2026-01-31 12:00:05\" (UTC) or 2026-01-31T12:00:05Z"));
}

// Whether `text` has the name as a word of its own.
bool names(const std::string& text, const std::string& name) {
  const auto is_letter = [&text](std::size_t place) {
    return place < text.size() && std::isalnum(static_cast<unsigned char>(text[place])) != 0;
  };
  for (std::size_t place = text.find(name); place != std::string::npos;
       place = text.find(name, place + 1)) {
    if (!is_letter(place + name.size()) && (place == 0 || !is_letter(place - 1))) {
      return true;
    }
  }
  return false;
}

// A bare name can be anything, so the daemon cannot tell that it is one of a host or a user.
void warn_of_names(Session& session, const std::string& text) {
  constexpr std::size_t kShortest = 3;
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  const passwd* const user = getpwuid(geteuid());
  for (const auto& [what, name] :
       {std::pair("this host", std::string(host.data())),
        std::pair("you", std::string(user == nullptr ? "" : user->pw_name))}) {
    if (name.size() >= kShortest && name != "root" && names(text, name)) {
      session.console().err << "warning: the receipt has a word that is the name of " << what
                            << ", `" << one_line(name) << "`: look at it before you publish it\n";
    }
  }
}

absl::Status print(Session& session, const ReceiptOptions& options, const std::string& text) {
  if (options.output.empty()) {
    session.console().out << text << std::flush;
    return absl::OkStatus();
  }
  const absl::Status status = write_file(options.output, text, options.overwrites);
  return status.ok() ? status : proto::annotate(status, "--output: " + options.output);
}

absl::StatusOr<int> make(Session& session, const ReceiptOptions& options) {
  if (options.format != "markdown" && options.format != "json") {
    return absl::InvalidArgumentError(
        absl::StrCat("format `", options.format, "`: expected one of json, markdown"));
  }
  v1::ReceiptRequest request;
  for (const std::string& text : options.ids) {
    ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(text));
    request.add_experiment_ids(id);
  }
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t as_of_ns, parse_time(options.as_of));
  request.set_judged_until_ns(as_of_ns == 0 ? options.judged_until_ns : as_of_ns);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ReceiptResponse response, connection->receipt(request));
  std::string text = response.markdown();
  if (options.format == "json") {
    ASSAY_ASSIGN_OR_RETURN(text, json_text(response.receipt()));
  }
  warn_of_names(session, text);
  ASSAY_RETURN_IF_ERROR(print(session, options, text));
  return kFine;
}

absl::StatusOr<v1::VerifyReceiptRequest> parse_receipt(const std::string& text) {
  v1::VerifyReceiptRequest request;
  if (!absl::StartsWith(absl::StripLeadingAsciiWhitespace(text), "{")) {
    request.set_markdown(text);
    return request;
  }
  const auto status = google::protobuf::util::JsonStringToMessage(text, request.mutable_receipt());
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("is no receipt: ", std::string(status.message())));
  }
  return request;
}

absl::StatusOr<v1::VerifyReceiptRequest> read_receipt(const std::string& path) {
  ASSAY_ASSIGN_OR_RETURN(const std::string text, read_text(path, kMaxReceiptBytes));
  return proto::is_utf8(text) ? parse_receipt(text)
                              : absl::InvalidArgumentError("is no receipt: it is not UTF-8");
}

absl::StatusOr<int> verify(Session& session, const ReceiptOptions& options) {
  const auto request = read_receipt(options.verified);
  if (!request.ok()) {
    return proto::annotate(request.status(), "--verify: " + options.verified);
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  const auto response = connection->verify_receipt(*request);
  if (absl::IsNotFound(response.status())) {
    // It is not wrong usage to ask another database.
    session.console().err << "assay: " << one_line(std::string(response.status().message()))
                          << "\n";
    return kNotCarriedOut;
  }
  if (!response.ok()) {
    return proto::annotate(response.status(), options.verified);
  }
  if (!response->matches()) {
    session.console().out << one_line("differs: " + response->difference()) << "\n" << std::flush;
    return kRejected;
  }
  session.console().out << "matches: experiment " << absl::StrJoin(response->experiment_ids(), ", ")
                        << "\n"
                        << std::flush;
  return kFine;
}

}  // namespace

void add_receipt_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<ReceiptOptions>();
  CLI::App* command = session.add_command(
      app,
      "receipt",
      "The account of experiments for people who were not there, without host names, paths and "
      "users; or whether such an account says what is stored",
      "  assay receipt last\n"
      "  assay receipt 12 13 --format json -o receipt.json\n"
      "  assay receipt 12 --as-of 2026-01-31T12:00:05Z\n"
      "  assay receipt --verify receipt.md",
      [&session, options] {
        return options->verified.empty() ? make(session, *options) : verify(session, *options);
      });
  // A receipt has two forms only.
  command->remove_option(command->get_option("--format"));
  command->add_option("--format", options->format, "markdown or json")->capture_default_str();
  CLI::Option* ids =
      command->add_option("ids", options->ids, "numbers, or last")->capture_default_str();
  CLI::Option* as_of = command->add_option(
      "--as-of", options->as_of, "with the verdicts of this moment: 2026-01-31T12:00:05Z");
  CLI::Option* until = command
                           ->add_option("--judged-until",
                                        options->judged_until_ns,
                                        "the same as a receipt names it, in nanoseconds")
                           ->check(at_least(0))
                           ->excludes(as_of);
  CLI::Option* output = command->add_option(
      "-o,--output", options->output, "a new file; standard output when left out");
  command->add_flag("--overwrite", options->overwrites, "--output may be there already")
      ->needs(output);
  command
      ->add_option("--verify",
                   options->verified,
                   "a receipt, Markdown or JSON; exit status 0: matches, 3: differs, 1: its "
                   "experiments are not here")
      ->excludes(ids)
      ->excludes(as_of)
      ->excludes(until)
      ->excludes(output);
}

}  // namespace assay::client
