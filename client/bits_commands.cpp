#include "client/history_text.h"
#include "client/nothing_text.h"
#include "client/regressions_text.h"
#include "client/session.h"
#include "proto/golden_text.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <memory>

namespace assay::client {
namespace {

struct BitsOptions {
  std::string id = "last";
  std::string reason;
  std::vector<std::string> figures;
  std::string variant;
  std::string operator_name;
};

struct HistoryOptions {
  std::string operator_name;
  std::string workload;
  std::string tensor;
  std::string device;
  std::string digest;
  std::uint32_t limit = 100;
  std::string page;
};

absl::StatusOr<int> accept(Session& session, const BitsOptions& options) {
  v1::AcceptBitsRequest request;
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, parse_id(options.id));
  request.set_experiment_id(id);
  request.set_reason(options.reason);
  request.set_variant(options.variant);
  for (const std::string& text : options.figures) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--figure: `", text, "`: expected NAME=VALUE, as in mean_kl=0.00066"));
    }
    v1::Setting& figure = *request.add_figures();
    figure.set_name(text.substr(0, equals));
    figure.set_value(text.substr(equals + 1));
  }
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::AcceptBitsResponse response, connection->accept_bits(request));
  ASSAY_RETURN_IF_ERROR(session.print(response, accepted_text(response, session.format())));
  return kFine;
}

absl::StatusOr<v1::ListGoldensResponse> goldens(Session& session,
                                                v1::ListGoldensRequest request,
                                                bool include_replaced) {
  request.set_include_replaced(include_replaced);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  return connection->goldens(request);
}

absl::StatusOr<int> log(Session& session, const BitsOptions& options) {
  v1::ListGoldensRequest request;
  request.set_operator_name(options.operator_name);
  ASSAY_ASSIGN_OR_RETURN(const v1::ListGoldensResponse response, goldens(session, request, true));
  ASSAY_RETURN_IF_ERROR(session.print_list(
      response,
      goldens_text(response, session.format()),
      !response.goldens().empty(),
      nothing_text(request, "acceptance", "`assay bits accept ID --reason WHY` makes one")));
  return kFine;
}

absl::StatusOr<int> history(Session& session, const HistoryOptions& options) {
  v1::BitHistoryRequest request;
  request.set_operator_name(options.operator_name);
  request.set_workload(options.workload);
  request.set_tensor(options.tensor);
  request.set_device(options.device);
  request.set_digest(options.digest);
  request.set_page_size(options.limit);
  request.set_page_token(options.page);
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::BitHistoryResponse response, connection->bit_history(request));
  ASSAY_RETURN_IF_ERROR(
      session.print_list(response,
                         bit_history_text(response, session.format()),
                         !response.entries().empty(),
                         nothing_text(request, "digest", "`assay measure OPERATOR` takes some")));
  if (!response.next_page_token().empty() && session.format() != Format::kJson) {
    session.console().err << "older ones: assay bits history --page " << response.next_page_token()
                          << "\n";
  }
  return kFine;
}

absl::StatusOr<int> export_bits(Session& session, const BitsOptions& options) {
  v1::ListGoldensRequest request;
  request.set_operator_name(options.operator_name);
  ASSAY_ASSIGN_OR_RETURN(const v1::ListGoldensResponse response, goldens(session, request, false));
  ASSAY_ASSIGN_OR_RETURN(
      const std::string text,
      proto::format_goldens({response.goldens().begin(), response.goldens().end()}));
  ASSAY_RETURN_IF_ERROR(session.print(response, text));
  return kFine;
}

}  // namespace

void add_bits_commands(CLI::App& app, Session& session) {
  CLI::App* bits =
      app.add_subcommand("bits", "Bits: accept new ones, their log and history, a file");
  bits->require_subcommand(1);

  auto accepted = std::make_shared<BitsOptions>();
  CLI::App* accept_command = session.add_command(
      *bits,
      "accept",
      "Makes the bits that an experiment measured the accepted ones",
      "  assay bits accept last --reason 'shorter sum in the merge' --figure mean_kl=0.00066",
      [&session, accepted] { return accept(session, *accepted); });
  accept_command->add_option("id", accepted->id, "a number, or last")->required();
  accept_command->add_option("--reason", accepted->reason, "why the bits may change")->required();
  accept_command->add_option("--figure", accepted->figures, "a quality figure, NAME=VALUE")
      ->allow_extra_args(false);
  accept_command->add_option("--variant", accepted->variant, "only the bits of this variant");

  auto logged = std::make_shared<BitsOptions>();
  session
      .add_command(*bits,
                   "log",
                   "Every acceptance, with its reason and what it replaced",
                   "  assay bits log --operator qsa_decode",
                   [&session, logged] { return log(session, *logged); })
      ->add_option("--operator", logged->operator_name, "only this operator");

  auto asked = std::make_shared<HistoryOptions>();
  CLI::App* history_command = session.add_command(
      *bits,
      "history",
      "Which bits tensors had: where and when they were first and last seen, and "
      "whether they were accepted",
      "  assay bits history --operator qsa_decode --tensor out\n"
      "  assay bits history --digest 5f0c21ab",
      [&session, asked] { return history(session, *asked); });
  history_command->add_option("--operator", asked->operator_name, "only this operator");
  history_command->add_option(
      "--workload", asked->workload, "its canonical text as `assay show` has it, or the beginning");
  history_command->add_option("--tensor", asked->tensor, "only this tensor");
  history_command->add_option("--device", asked->device, "name or UUID");
  history_command->add_option("--digest", asked->digest, "its first digits, at least 4");
  add_limit(*history_command, asked->limit);
  history_command->add_option("--page", asked->page, "where the page before ended");

  auto exported = std::make_shared<BitsOptions>();
  session
      .add_command(*bits,
                   "export",
                   "Writes the accepted bits as a golden file",
                   "  assay bits export --operator qsa_decode > tests/goldens/qsa_decode.tsv",
                   [&session, exported] { return export_bits(session, *exported); })
      ->add_option("--operator", exported->operator_name, "only this operator");
}

}  // namespace assay::client
