#include "client/report.h"

#include "client/context_text.h"
#include "client/json.h"
#include "client/numbers.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::client {
namespace {

std::string facts_text(const Report& report, bool markdown) {
  std::string text;
  std::size_t width = 0;
  for (const auto& [name, value] : report.facts) {
    width = std::max(width, name.size());
  }
  for (const auto& [name, value] : report.facts) {
    if (markdown) {
      absl::StrAppend(&text, "- ", name, ": ", markdown_escaped(value), "\n");
    } else {
      const std::string blanks(width - name.size() + 2, ' ');
      absl::StrAppend(&text, name, blanks, one_line(value), "\n");
    }
  }
  return text;
}

bool is_final(v1::TaskState state) {
  return state == v1::DONE || state == v1::FAILED || state == v1::CANCELLED ||
         state == v1::INTERRUPTED;
}

Report report_of(const v1::Experiment& experiment) {
  switch (experiment.spec().kind()) {
    case v1::CHECK:
      return check_report(experiment);
    case v1::BENCH:
      return ceiling_report(experiment);
    case v1::SWEEP:
      return sweep_report(experiment);
    default:
      return compare_report(experiment);
  }
}

Table csv_of(const v1::Experiment& experiment) {
  switch (experiment.spec().kind()) {
    case v1::CHECK:
      return check_csv(experiment);
    case v1::BENCH:
      return ceiling_csv(experiment);
    case v1::SWEEP:
      return sweep_csv(experiment);
    default:
      return compare_csv(experiment);
  }
}

}  // namespace

std::string report_text(const Report& report, Format format) {
  const bool markdown = format == Format::kMarkdown;
  std::string text = facts_text(report, markdown);
  for (const Table& table : report.tables) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", table_text(table, format));
  }
  for (std::size_t i = 0; i < report.notes.size(); ++i) {
    const std::string& note = report.notes[i];
    absl::StrAppend(&text,
                    i == 0 ? "\n" : "",
                    markdown ? "" : "[",
                    i + 1,
                    markdown ? ". " : "] ",
                    markdown ? markdown_escaped(note) : one_line(note),
                    "\n");
  }
  for (std::size_t i = 0; i < report.closing.size(); ++i) {
    const std::string& line = report.closing[i];
    // Lines of Markdown flow together unless a blank line stands between them.
    absl::StrAppend(&text,
                    i == 0 || markdown ? "\n" : "",
                    markdown ? markdown_escaped(line) : one_line(line),
                    "\n");
  }
  return text;
}

std::string note_mark(Report& report, const std::string& text) {
  if (text.empty()) {
    return "";
  }
  const auto found = std::ranges::find(report.notes, text);
  const auto place = found - report.notes.begin();
  if (found == report.notes.end()) {
    report.notes.push_back(text);
  }
  return absl::StrCat(" [", place + 1, "]");
}

void add_device_facts(Report& report, const v1::Experiment& experiment) {
  const v1::Device& device = experiment.device();
  const std::string name = device.name().empty() ? experiment.spec().device() : device.name();
  const std::string comma = device.model().empty() || device.uuid().empty() ? "" : ", ";
  const std::string identity = absl::StrCat(device.model(), comma, device.uuid());
  report.facts.emplace_back("device",
                            identity.empty() ? name : absl::StrCat(name, " (", identity, ")"));
  if (!device.code_version().empty()) {
    report.facts.emplace_back("code", device.code_version());
  }
  std::string toolkit = device.toolkit_version();
  if (!device.driver_version().empty()) {
    absl::StrAppend(&toolkit, toolkit.empty() ? "" : ", ", "driver ", device.driver_version());
  }
  if (!toolkit.empty()) {
    report.facts.emplace_back("toolkit", toolkit);
  }
  if (!device.build_flags().empty()) {
    report.facts.emplace_back("build flags", device.build_flags());
  }
}

void add_context_facts(Report& report, const v1::Experiment& experiment) {
  const v1::ExperimentSpec& spec = experiment.spec();
  const auto add = [&report](const std::string& name, const std::string& value) {
    if (!value.empty()) {
      report.facts.emplace_back(name, value);
    }
  };
  add("experiment", absl::StrCat(experiment.experiment_id()));
  add("commit", commit_text(spec.context()));
  add("branch", spec.context().branch());
  add("label", spec.label());
  add("labels", labels_text(spec.context()));
  add("note", spec.context().note());
}

std::string unfinished_text(const v1::Experiment& experiment) {
  if (experiment.state() == v1::DONE) {
    return "";
  }
  std::string text = absl::StrCat("experiment ",
                                  experiment.experiment_id(),
                                  is_final(experiment.state()) ? " " : " is ",
                                  proto::spoken(v1::TaskState_Name(experiment.state())));
  if (!experiment.message().empty()) {
    absl::StrAppend(&text, ": ", experiment.message());
  }
  return absl::StrCat(text,
                      "; ",
                      with_commas(experiment.num_finished()),
                      " of ",
                      with_commas(experiment.num_configurations()),
                      " configurations finished");
}

absl::StatusOr<std::string> experiment_text(const v1::Experiment& experiment,
                                            Format format,
                                            bool with_samples) {
  if (format == Format::kJson) {
    return json_text(experiment);
  }
  // A BENCH keeps no samples.
  const bool shows_samples = with_samples && experiment.spec().kind() != v1::BENCH;
  if (format == Format::kCsv) {
    return csv_text(shows_samples ? sample_csv(experiment) : csv_of(experiment));
  }
  std::string text = report_text(report_of(experiment), format);
  if (shows_samples) {
    absl::StrAppend(&text, "\n", report_text(block_report(experiment), format));
  }
  return text;
}

}  // namespace assay::client
