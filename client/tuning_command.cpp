#include "client/axis.h"
#include "client/input_file.h"
#include "client/json.h"
#include "client/numbers.h"
#include "client/session.h"
#include "client/tuning_header.h"
#include "client/tuning_text.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

struct LookupOptions {
  std::string operator_name;
  std::string variant;
  std::string device;
  std::vector<std::string> axes;
};

struct ExportOptions {
  std::string operator_name;
  std::string device_model;
  std::string form = "json";
  std::string output;
  bool overwrites = false;
  bool includes_stale = false;
};

absl::StatusOr<int> look_up(Session& session, const LookupOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  v1::LookupTuningRequest request;
  request.set_operator_name(options.operator_name);
  request.set_variant(options.variant);
  request.set_device(options.device);
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Axis> axes, parse_axes(options.axes));
  for (const v1::Axis& axis : axes) {
    if (axis.values_size() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("-a ", axis.name(), ": a look-up needs one value"));
    }
    v1::Setting& setting = *request.add_axes();
    setting.set_name(axis.name());
    setting.set_value(axis.values(0));
  }
  ASSAY_ASSIGN_OR_RETURN(const v1::LookupTuningResponse answer, connection->lookup_tuning(request));
  ASSAY_RETURN_IF_ERROR(session.print(answer, tuning_text(answer)));
  return answer.has_tuning() ? kFine : kNotCarriedOut;
}

absl::StatusOr<v1::ListTuningsResponse> list_tunings(Session& session,
                                                     const std::string& operator_name,
                                                     const std::string& device_model) {
  ASSAY_ASSIGN_OR_RETURN(Connection* const connection, session.connect());
  v1::ListTuningsRequest request;
  request.set_operator_name(operator_name);
  request.set_device_model(device_model);
  return connection->tunings(request);
}

// Entries are exported without them too; their workloads then have to be the same.
v1::ListOperatorsResponse known_operators(Session& session) {
  const absl::StatusOr<Connection*> connection = session.connect();
  auto operators = connection.ok() ? (*connection)->operators("") : connection.status();
  if (!operators.ok()) {
    session.console().err << one_line(absl::StrCat("no workload is near another one: ",
                                                   std::string(operators.status().message())))
                          << "\n";
    return {};
  }
  return *std::move(operators);
}

absl::StatusOr<int> export_tunings(Session& session, const ExportOptions& options) {
  ASSAY_ASSIGN_OR_RETURN(v1::ListTuningsResponse all,
                         list_tunings(session, options.operator_name, options.device_model));
  v1::ListTuningsResponse fresh;
  for (v1::Tuning& tuning : *all.mutable_tunings()) {
    if (tuning.stale().empty() || options.includes_stale) {
      *fresh.add_tunings() = std::move(tuning);
      continue;
    }
    session.console().err << one_line(absl::StrCat("left out: ",
                                                   tuning.operator_name(),
                                                   " ",
                                                   tuning.workload(),
                                                   ": stale: ",
                                                   tuning.stale()))
                          << "\n";
  }
  std::string text;
  if (options.form == "json") {
    ASSAY_ASSIGN_OR_RETURN(text, json_text(fresh));
  } else if (options.form == "header") {
    ASSAY_ASSIGN_OR_RETURN(text, tuning_header(fresh, known_operators(session)));
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("--format: `", options.form, "`: expected json or header"));
  }
  if (options.output.empty()) {
    session.console().out << text << std::flush;
    return kFine;
  }
  const absl::Status written = write_file(options.output, text, options.overwrites);
  return written.ok() ? absl::StatusOr<int>(kFine)
                      : proto::annotate(written, "--output: " + options.output);
}

}  // namespace

void add_tuning_commands(CLI::App& app, Session& session) {
  CLI::App* tuning = app.add_subcommand("tuning", "What sweeps found best: lookup, list, export");
  tuning->require_subcommand(1);

  auto lookup = std::make_shared<LookupOptions>();
  CLI::App* look = session.add_command(
      *tuning,
      "lookup",
      "The launch parameters for a workload on a device; exit status 1 where none are known",
      "  assay tuning lookup qsa_decode -a kv=int8 -a width=32768\n"
      "  assay tuning lookup tree_attention --variant warpgroup --device h200",
      [&session, lookup] { return look_up(session, *lookup); });
  look->add_option("operator", lookup->operator_name, "see `assay operators`")->required();
  look->add_option("-a,--axis", lookup->axes, "NAME=VALUE; others at their default")
      ->allow_extra_args(false);
  look->add_option("--variant", lookup->variant, "left out: the fastest of all");
  look->add_option("--device", lookup->device, "left out: the first available one");

  auto name = std::make_shared<std::string>();
  CLI::App* list = session.add_command(
      *tuning,
      "list",
      "Every entry, with what makes it stale",
      "  assay tuning list\n  assay tuning list qsa_decode --format markdown",
      [&session, name]() -> absl::StatusOr<int> {
        ASSAY_ASSIGN_OR_RETURN(const v1::ListTuningsResponse all, list_tunings(session, *name, ""));
        ASSAY_RETURN_IF_ERROR(session.print(all, tunings_text(all, session.format())));
        return kFine;
      });
  list->add_option("operator", *name, "left out: all");

  auto options = std::make_shared<ExportOptions>();
  CLI::App* write = session.add_command(
      *tuning,
      "export",
      "Writes the table as JSON, or as a C++ header that picks launch parameters at run time; "
      "stale entries are left out and named",
      "  assay tuning export --format header -o tuned.h\n"
      "  assay tuning export --format json --operator qsa_decode",
      [&session, options] { return export_tunings(session, *options); });
  // Its forms are its own.
  write->remove_option(write->get_option("--format"));
  write->add_option("--format", options->form, "json or header")->capture_default_str();
  write->add_option("--operator", options->operator_name, "left out: all");
  write->add_option("--device-model", options->device_model, "left out: all");
  write->add_option("-o,--output", options->output, "a new file; standard output when left out");
  write->add_flag("--overwrite", options->overwrites, "--output may be there already");
  write->add_flag("--stale", options->includes_stale, "stale entries too");
}

}  // namespace assay::client
