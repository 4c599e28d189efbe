// What a request says about the code that it measures: from the checkout, and from what is typed.
#pragma once

#include "proto/assay.pb.h"

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

#include <string>
#include <vector>

namespace assay::client {

struct ContextOptions {
  std::string commit;
  std::string branch;
  std::vector<std::string> labels;  // NAME=VALUE, or one free text
  std::string note;
  bool ignores_checkout = false;
};

// `options` must live until the command has run.
void add_context_options(CLI::App& command, ContextOptions& options);

// Sets spec.context and spec.label. `folder` is where a checkout is looked for; empty: nowhere.
// INVALID_ARGUMENT names the option.
absl::Status set_context(const ContextOptions& options,
                         const std::string& folder,
                         v1::ExperimentSpec& spec);

}  // namespace assay::client
