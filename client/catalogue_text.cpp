#include "client/catalogue_text.h"

#include "client/numbers.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace assay::client {
namespace {

std::string values_text(const v1::AxisInfo& axis) {
  if (!axis.choices().empty()) {
    return absl::StrJoin(axis.choices(), ", ");
  }
  return absl::StrCat(with_commas(axis.min()), " to ", with_commas(axis.max()));
}

std::string heading(const std::string& text, Format format) {
  return format == Format::kMarkdown ? absl::StrCat("\n### ", text, "\n\n")
                                     : absl::StrCat("\n", text, "\n");
}

std::string section(const std::string& name, const Table& table, Format format) {
  return table.rows.empty() ? "" : heading(name, format) + table_text(table, format);
}

Table axes_table(const v1::OperatorInfo& info) {
  Table table{{{"axis"}, {"default"}, {"values"}, {"meaning"}}, {}};
  for (const v1::AxisInfo& axis : info.axes()) {
    table.rows.push_back({axis.name(), axis.default_value(), values_text(axis), axis.help()});
  }
  return table;
}

Table variants_table(const v1::OperatorInfo& info) {
  Table table{{{"variant"}, {"bit family"}, {"bits"}, {"stages"}, {"idea"}}, {}};
  for (const v1::VariantInfo& variant : info.variants()) {
    std::string idea = variant.idea();
    if (!variant.min_compute_capability().empty()) {
      absl::StrAppend(&idea, " (compute capability ", variant.min_compute_capability(), ")");
    }
    table.rows.push_back({variant.name(),
                          variant.family(),
                          variant.bits_domain(),
                          absl::StrJoin(variant.stages(), ", "),
                          idea});
  }
  return table;
}

// One row per parameter that differs in anything, with the variants that have it.
Table parameters_table(const v1::OperatorInfo& info) {
  Table table{{{"parameter"}, {"default"}, {"values"}, {"of"}, {"meaning"}}, {}};
  for (const v1::VariantInfo& variant : info.variants()) {
    for (const v1::AxisInfo& axis : variant.parameters()) {
      std::vector<std::string> row = {
          axis.name(), axis.default_value(), values_text(axis), variant.name(), axis.help()};
      const auto same = std::ranges::find_if(table.rows, [&](const auto& other) {
        return other[0] == row[0] && other[1] == row[1] && other[2] == row[2] && other[4] == row[4];
      });
      if (same == table.rows.end()) {
        table.rows.push_back(std::move(row));
      } else {
        absl::StrAppend(&(*same)[3], ", ", variant.name());
      }
    }
  }
  return table;
}

Table workloads_table(const v1::OperatorInfo& info) {
  Table table{{{"workload"}, {"axes"}}, {}};
  for (const v1::NamedWorkload& workload : info.workloads()) {
    const std::string axes =
        absl::StrJoin(workload.axes(), ", ", [](std::string* text, const v1::Setting& axis) {
          absl::StrAppend(text, axis.name(), "=", axis.value());
        });
    table.rows.push_back({workload.name(), axes});
  }
  return table;
}

Table mutants_table(const v1::OperatorInfo& info) {
  Table table{{{"mutant"}, {"planted in"}, {"defect"}}, {}};
  for (const v1::MutantInfo& mutant : info.mutants()) {
    table.rows.push_back({mutant.name(), mutant.variant(), mutant.defect()});
  }
  return table;
}

Table checks_table(const v1::OperatorInfo& info) {
  Table table{{{"check"}, {"what it does"}}, {}};
  for (const v1::CheckInfo& check : info.checks()) {
    table.rows.push_back({absl::StrCat(check.suite(), "/", check.name()), check.help()});
  }
  return table;
}

// Raw values under the names of the data model.
std::string devices_csv(const v1::ListDevicesResponse& response) {
  Table table{{{"name"},
               {"backend"},
               {"available"},
               {"reason"},
               {"model"},
               {"uuid"},
               {"compute_capability"},
               {"num_multiprocessors"},
               {"memory_bytes"},
               {"driver_version"},
               {"toolkit_version"},
               {"build_flags"},
               {"code_version"},
               {"queue_length"},
               {"running_experiment_id"},
               {"ceilings"}},
              {}};
  for (const v1::Device& device : response.devices()) {
    table.rows.push_back(
        {device.name(),
         device.backend(),
         device.available() ? "true" : "false",
         device.reason(),
         device.model(),
         device.uuid(),
         device.compute_capability(),
         absl::StrCat(device.num_multiprocessors()),
         absl::StrCat(device.memory_bytes()),
         device.driver_version(),
         device.toolkit_version(),
         device.build_flags(),
         device.code_version(),
         absl::StrCat(device.queue_length()),
         absl::StrCat(device.running_experiment_id()),
         absl::StrJoin(device.ceilings(), " ", [](std::string* text, const v1::Ceiling& ceiling) {
           absl::StrAppend(text, ceiling.name(), "=", raw_number_text(ceiling.value()));
         })});
  }
  return csv_text(table);
}

// The rates; what a launch costs is shown by the experiment itself.
std::string ceilings_text(const v1::Device& device) {
  if (device.ceilings().empty()) {
    return device.available()
               ? absl::StrCat(device.name(),
                              ": no ceilings are stored; `assay device bench --device ",
                              device.name(),
                              "` measures them\n")
               : "";
  }
  std::string text;
  for (const v1::Ceiling& ceiling : device.ceilings()) {
    if (ceiling.unit() == "bytes/s" || ceiling.unit() == "flop/s") {
      absl::StrAppend(
          &text, ceiling.name(), " ", quantity_text(ceiling.value(), ceiling.unit()), ", ");
    }
  }
  const v1::Ceiling& first = device.ceilings(0);
  return absl::StrCat(device.name(),
                      ": ",
                      text,
                      "measured ",
                      time_text(first.measured_ns()).substr(0, 10),
                      " (experiment ",
                      first.experiment_id(),
                      ")\n");
}

std::string lacks_text(const v1::Device& device) {
  std::string text;
  if (!device.available()) {
    absl::StrAppend(&text, device.name(), " is not available: ", device.reason(), "\n");
  }
  for (const v1::Capability& capability : device.capabilities()) {
    if (!capability.available()) {
      absl::StrAppend(
          &text, device.name(), " has no ", capability.name(), ": ", capability.reason(), "\n");
    }
  }
  for (const v1::Module& module : device.modules()) {
    absl::StrAppend(&text,
                    device.name(),
                    module.available() ? " has module " : " has in quarantine module ",
                    one_line(module.name()),
                    module.reason().empty() ? "" : ": ",
                    one_line(module.reason()),
                    "\n");
  }
  if (device.num_runner_restarts() > 0 && !device.last_runner_failure().empty()) {
    const std::int64_t num = device.num_runner_restarts();
    absl::StrAppend(
        &text,
        device.name(),
        ": runner restarted ",
        num == 1 ? "once, because: " : absl::StrCat(with_commas(num), " times, last because: "),
        device.last_runner_failure(),
        "\n");
  }
  return text;
}

}  // namespace

std::string devices_text(const v1::ListDevicesResponse& response, Format format) {
  if (format == Format::kCsv) {
    return devices_csv(response);
  }
  Table table{{{"device"},
               {"backend"},
               {"model"},
               {"available"},
               {"running"},
               {"queued", Align::kRight},
               {"units", Align::kRight},
               {"memory", Align::kRight},
               {"driver"},
               {"toolkit"},
               {"code"}},
              {}};
  std::string lacks;
  for (const v1::Device& device : response.devices()) {
    const bool runs = device.running_experiment_id() > 0;
    table.rows.push_back(
        {device.name(),
         device.backend(),
         device.model(),
         device.available() ? "yes" : "no",
         runs ? absl::StrCat("experiment ", device.running_experiment_id()) : "-",
         with_commas(device.queue_length()),
         device.num_multiprocessors() > 0 ? with_commas(device.num_multiprocessors()) : "-",
         device.memory_bytes() > 0 ? bytes_text(device.memory_bytes()) : "-",
         device.driver_version().empty() ? "-" : device.driver_version(),
         device.toolkit_version().empty() ? "-" : device.toolkit_version(),
         device.code_version()});
    lacks += lacks_text(device) + ceilings_text(device);
  }
  return table_text(table, format) + (lacks.empty() ? "" : "\n" + lacks);
}

std::string operators_text(const v1::ListOperatorsResponse& response, Format format) {
  Table table{{{"operator"}, {"variants"}, {"bits"}, {"summary"}}, {}};
  for (const v1::OperatorInfo& info : response.operators()) {
    const std::string variants =
        absl::StrJoin(info.variants(), ", ", [](std::string* text, const v1::VariantInfo& variant) {
          absl::StrAppend(text, variant.name());
        });
    table.rows.push_back({info.name(), variants, info.bits_domain(), info.summary()});
  }
  return table_text(table, format);
}

std::string operator_text(const v1::OperatorInfo& info, Format format) {
  std::string text = absl::StrCat(
      one_line(info.name()), ": ", one_line(info.summary()), "\n", "bits: ", info.bits_domain());
  if (!info.module().empty()) {
    absl::StrAppend(&text, "\nmodule: ", one_line(info.module()));
  }
  text += "\n";
  text += section("Axes of a workload (-a NAME=VALUE)", axes_table(info), format);
  text += section("Variants (the first is the baseline)", variants_table(info), format);
  text += section("Launch parameters (VARIANT:NAME=VALUE, or -a NAME=VALUE for both arms)",
                  parameters_table(info),
                  format);
  text += section("Named workloads (--workload NAME)", workloads_table(info), format);
  text += section("Checks (assay check, --suite)", checks_table(info), format);
  text += section("Mutants, each of which must be rejected", mutants_table(info), format);
  return text;
}

absl::StatusOr<v1::OperatorInfo> find_operator(const v1::ListOperatorsResponse& response,
                                               const std::string& name) {
  std::vector<std::string> names;
  for (const v1::OperatorInfo& info : response.operators()) {
    if (info.name() == name) {
      return info;
    }
    names.push_back(info.name());
  }
  std::ranges::sort(names);
  return absl::NotFoundError(absl::StrCat("operator `",
                                          name,
                                          "`: ",
                                          names.empty() ? "there is none" : "expected one of ",
                                          absl::StrJoin(names, ", ")));
}

absl::StatusOr<std::string> default_device(const v1::ListDevicesResponse& response) {
  const v1::Device* chosen = nullptr;
  std::vector<std::string> reasons;
  for (const v1::Device& device : response.devices()) {
    if (!device.available()) {
      reasons.push_back(absl::StrCat(device.name(), ": ", device.reason()));
      continue;
    }
    if (chosen == nullptr || (chosen->backend() != "cuda" && device.backend() == "cuda")) {
      chosen = &device;
    }
  }
  if (chosen == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no device is available (", absl::StrJoin(reasons, "; "), ")"));
  }
  return chosen->name();
}

}  // namespace assay::client
