#include "client/context_options.h"

#include "client/git_checkout.h"
#include "proto/status.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::client {
namespace {

absl::Status set_labels(const std::vector<std::string>& texts,
                        v1::Context& context,
                        v1::ExperimentSpec& spec) {
  for (const std::string& text : texts) {
    const std::size_t end = text.find('=');
    if (end == std::string::npos) {
      if (!spec.label().empty()) {
        return absl::InvalidArgumentError(absl::StrCat("--label: `",
                                                       text,
                                                       "`: one free text is kept, and there is `",
                                                       spec.label(),
                                                       "`; write NAME=VALUE for more"));
      }
      spec.set_label(text);
      continue;
    }
    if (end == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--label: `", text, "`: expected NAME=VALUE or a free text"));
    }
    v1::Setting& label = *context.add_labels();
    label.set_name(text.substr(0, end));
    label.set_value(text.substr(end + 1));
  }
  return absl::OkStatus();
}

bool is_commit(const std::string& text) {
  return text.size() >= 7 && text.size() <= 64 &&
         std::ranges::all_of(text, [](char digit) { return absl::ascii_isxdigit(digit); });
}

// Of what is typed only that is known: the checkout may be of other code.
absl::StatusOr<v1::Context> code_of(const ContextOptions& options, const std::string& folder) {
  const std::string place = options.ignores_checkout ? "" : folder;
  if (options.commit.empty()) {
    return place.empty() ? v1::Context() : read_checkout(place);
  }
  if (!is_commit(options.commit)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--commit: `", options.commit, "`: expected 7 to 64 hexadecimal digits"));
  }
  v1::Context typed;
  typed.set_commit(absl::AsciiStrToLower(options.commit));
  return place.empty() ? typed : read_commit(place, typed.commit());
}

}  // namespace

void add_context_options(CLI::App& command, ContextOptions& options) {
  command.add_option("--commit", options.commit, "of the code that is measured; the checkout's");
  command.add_option("--branch", options.branch, "of the code that is measured; the checkout's");
  command
      .add_option("--label",
                  options.labels,
                  "NAME=VALUE, to be found again by (repeatable); or, without =, one free text")
      ->allow_extra_args(false);
  command.add_option("--note", options.note, "free text, why this was run");
  command.add_flag(
      "--no-git", options.ignores_checkout, "do not look at the checkout of this folder");
}

absl::Status set_context(const ContextOptions& options,
                         const std::string& folder,
                         v1::ExperimentSpec& spec) {
  ASSAY_ASSIGN_OR_RETURN(v1::Context context, code_of(options, folder));
  if (!options.branch.empty()) {
    context.set_branch(options.branch);
  }
  context.set_note(options.note);
  ASSAY_RETURN_IF_ERROR(set_labels(options.labels, context, spec));
  if (context.ByteSizeLong() > 0) {
    *spec.mutable_context() = std::move(context);
  }
  return absl::OkStatus();
}

}  // namespace assay::client
