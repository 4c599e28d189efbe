#include "server/receipt_markdown.h"

#include "proto/numbers.h"
#include "proto/text.h"
#include "server/markdown.h"
#include "server/receipt_sections.h"

#include "absl/strings/str_cat.h"

#include <string>
#include <vector>

namespace assay::server {
namespace {

std::string fact(std::string_view name, const std::string& markdown) {
  return absl::StrCat("- ", std::string(name), ": ", markdown, "\n");
}

std::string heading_of(const v1::ReceiptExperiment& experiment, int number) {
  const std::string kind = v1::ExperimentKind_Name(experiment.kind());
  return experiment.operator_name().empty()
             ? absl::StrCat("### ", number, ". ", kind, "\n\n")
             : absl::StrCat("### ",
                            number,
                            ". ",
                            kind,
                            " of ",
                            markdown_code(experiment.operator_name()),
                            "\n\n");
}

std::string state_text(const v1::ReceiptExperiment& experiment) {
  std::string text = proto::spoken(v1::TaskState_Name(experiment.state()));
  if (experiment.state() != v1::DONE) {
    text = absl::StrCat("**", text, "**");
  }
  absl::StrAppend(&text,
                  ", ",
                  proto::with_commas(experiment.num_finished()),
                  " of ",
                  proto::counted(experiment.num_configurations(), "configuration"));
  if (!experiment.message().empty()) {
    absl::StrAppend(&text, ": ", markdown_code(experiment.message()));
  }
  return text;
}

std::string context_facts(const v1::Context& context) {
  std::string text;
  if (!context.commit().empty()) {
    std::string commit = markdown_code(context.commit());
    if (context.dirty()) {
      commit += ", **with changes beside it**";
    }
    if (context.committed_ns() != 0) {
      absl::StrAppend(&commit, ", of ", proto::time_text(context.committed_ns()), " UTC");
    }
    text += fact("commit", commit);
  } else if (context.dirty()) {
    text += fact("commit", "unknown, **with changes beside it**");
  }
  if (!context.branch().empty()) {
    text += fact("branch", markdown_code(context.branch()));
  }
  std::string labels;
  for (const v1::Setting& label : context.labels()) {
    absl::StrAppend(&labels,
                    labels.empty() ? "" : ", ",
                    markdown_code(absl::StrCat(label.name(), "=", label.value())));
  }
  return labels.empty() ? text : text + fact("labels", labels);
}

std::string facts_of(const v1::ReceiptExperiment& experiment) {
  std::string text =
      absl::StrCat(std::string(kReceiptRequest), markdown_code(experiment.request()), "\n");
  text += fact("state", state_text(experiment));
  text += fact("run",
               absl::StrCat(proto::time_text(experiment.started_ns()),
                            " to ",
                            proto::time_text(experiment.finished_ns()),
                            " UTC"));
  text += context_facts(experiment.context());
  if (!experiment.label().empty()) {
    text += fact("label", markdown_code(experiment.label()));
  }
  for (const v1::Setting& each : experiment.environment()) {
    text += fact(each.name(), markdown_prose(each.value()));
  }
  for (const auto& [name, value] : RowNames(experiment).constant_facts()) {
    text += fact(name, markdown_code(value));
  }
  return text + "\n";
}

std::string list_text(const std::string& heading,
                      const google::protobuf::RepeatedPtrField<std::string>& lines) {
  if (lines.empty()) {
    return "";
  }
  std::string text = heading + "\n\n";
  for (const std::string& line : lines) {
    absl::StrAppend(&text, "- ", markdown_prose(line), "\n");
  }
  return text + "\n";
}

std::string judged_by_text(const v1::ReceiptExperiment& experiment) {
  if (experiment.judged_by().empty()) {
    return "";
  }
  std::string text = "#### Judged by\n\n";
  for (const v1::Setting& each : experiment.judged_by()) {
    text += fact(each.name(), markdown_prose(each.value()));
  }
  return text + "\n";
}

std::string end_of(const v1::Receipt& receipt) {
  return absl::StrCat(
      "Times are medians in microseconds of four digits, ratios have three decimals; `--format "
      "json` has every "
      "figure, and the digest covers all of them.\n\n",
      std::string(kReceiptDigestLine),
      markdown_code(receipt.digest()),
      ", ",
      std::string(kReceiptFormatIs),
      markdown_code(absl::StrCat(receipt.format_version())),
      ", ",
      std::string(kReceiptJudgedUntil),
      markdown_code(absl::StrCat(receipt.judged_until_ns())),
      "; to verify it: `assay receipt --verify FILE`\n");
}

}  // namespace

std::string receipt_markdown(const v1::Receipt& receipt) {
  std::string text = absl::StrCat(std::string(kReceiptHeading), "\n\n");
  int number = 0;
  for (const v1::ReceiptExperiment& experiment : receipt.experiments()) {
    absl::StrAppend(&text, heading_of(experiment, ++number), facts_of(experiment));
    absl::StrAppend(&text,
                    check_section(experiment),
                    exactness_section(experiment),
                    speed_section(experiment),
                    race_section(experiment),
                    ceiling_section(experiment));
    absl::StrAppend(
        &text, judged_by_text(experiment), list_text("#### Not run", experiment.not_run()));
  }
  return absl::StrCat(
      text, list_text("### Not part of this receipt", receipt.not_run()), end_of(receipt));
}

}  // namespace assay::server
