#include "client/catalogue_text.h"
#include "client/session.h"
#include "proto/status.h"

#include <memory>

namespace assay::client {
namespace {

struct OperatorOptions {
  std::string name;
  std::string device;
};

absl::StatusOr<int> devices(Session& session) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListDevicesResponse response, connection->devices());
  ASSAY_RETURN_IF_ERROR(session.print(response, devices_text(response, session.format())));
  return kFine;
}

absl::StatusOr<int> operators(Session& session, const OperatorOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  ASSAY_ASSIGN_OR_RETURN(const v1::ListOperatorsResponse response,
                         connection->operators(options.device));
  if (options.name.empty()) {
    ASSAY_RETURN_IF_ERROR(session.print(response, operators_text(response, session.format())));
    return kFine;
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::OperatorInfo info, find_operator(response, options.name));
  ASSAY_RETURN_IF_ERROR(session.print(info, operator_text(info, session.format())));
  return kFine;
}

}  // namespace

void add_catalogue_commands(CLI::App& app, Session& session) {
  session.add_command(app,
                      "devices",
                      "Lists the devices and says what each lacks and why",
                      "  assay devices\n"
                      "  assay devices --format json",
                      [&session] { return devices(session); });

  auto options = std::make_shared<OperatorOptions>();
  CLI::App* command =
      session.add_command(app,
                          "operators",
                          "Lists the operators, or everything that can be asked of one",
                          "  assay operators\n"
                          "  assay operators qsa_decode",
                          [&session, options] { return operators(session, *options); });
  command->add_option("operator", options->name, "one operator in full");
  command->add_option("--device", options->device, "see `assay devices`");
}

}  // namespace assay::client
