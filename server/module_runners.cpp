#include "server/module_runners.h"

#include "proto/status.h"
#include "server/log.h"
#include "server/lookup.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <utility>

namespace assay::server {
namespace {

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string> module_arguments(std::vector<std::string> arguments,
                                          const std::string& path) {
  arguments.emplace_back("--module");
  arguments.push_back(path);
  return arguments;
}

}  // namespace

ModuleRunners::ModuleRunners(const std::vector<std::string>& arguments,
                             std::chrono::nanoseconds start_timeout,
                             const std::vector<std::string>& files)
    : own_(arguments, start_timeout), current_(&own_) {
  for (const std::string& path : files) {
    Module& module = modules_.emplace_back();
    module.name = profiler::module_name_of(path).value_or(file_name(path));
    module.path = path;
    module.runner =
        std::make_unique<DeviceRunner>(module_arguments(arguments, path), start_timeout);
  }
}

absl::Status ModuleRunners::start(DeviceRunner& runner, Module* module) {
  if (current_ != &runner) {
    ASSAY_RETURN_IF_ERROR(current_->make_room());
    current_ = &runner;
    current_module_ = module;
  }
  const std::string before = runner.last_failure();
  const absl::Status ready = runner.ensure();
  if (runner.last_failure() != before) {
    last_failure_ = runner.last_failure();
  }
  return ready;
}

absl::Status ModuleRunners::start_own() {
  ASSAY_RETURN_IF_ERROR(start(own_, nullptr));
  const v1::RunnerHello& hello = own_.hello();
  own_description_ = {.device = hello.device(),
                      .operators = {hello.operators().begin(), hello.operators().end()},
                      .restrictions = {}};
  return absl::OkStatus();
}

// What its runner brings replaces what it brought before; without any, what it brought stays
// listed, so that an experiment is told why there is none.
absl::Status ModuleRunners::start_module(Module& module) {
  absl::Status ready = start(*module.runner, &module);
  if (ready.ok() && !module.runner->hello().device().available()) {
    ready = absl::FailedPreconditionError(module.runner->hello().device().reason());
    static_cast<void>(module.runner->make_room());
  }
  if (ready.ok()) {
    const v1::RunnerHello& hello = module.runner->hello();
    module.operators = {hello.operators().begin(), hello.operators().end()};
  } else if (!absl::IsCancelled(ready) && current_module_ == &module) {
    // Else it never was its turn.
    quarantine(std::string(ready.message()));
  }
  return ready;
}

void ModuleRunners::look_at(Module& module) {
  const profiler::FileStamp stamp = profiler::stamp_of(module.path);
  if (module.is_known && module.stamp == stamp) {
    return;
  }
  module.is_known = true;
  module.stamp = stamp;
  module.refused.clear();
  const absl::Status usable = profiler::check_module_file(module.path);
  if (!usable.ok()) {
    module.refused = std::string(usable.message());
    return;
  }
  // A runner has the file that it was started with.
  if (current_module_ == &module) {
    static_cast<void>(module.runner->make_room());
  }
  const absl::Status ready = start_module(module);
  module.is_known = ready.ok() || !module.refused.empty();
}

absl::Status ModuleRunners::ensure(const std::string& module) {
  if (own_description_.operators.empty()) {
    ASSAY_RETURN_IF_ERROR(start_own());
  }
  for (Module& each : modules_) {
    look_at(each);
  }
  if (module.empty()) {
    return start_own();
  }
  const auto found = std::ranges::find(modules_, module, &Module::name);
  if (found == modules_.end()) {
    return absl::NotFoundError(absl::StrCat("there is no module `", module, "`"));
  }
  if (found->refused.empty()) {
    absl::Status ready = start_module(*found);
    if (ready.ok() || found->refused.empty()) {
      return ready;
    }
  }
  return absl::FailedPreconditionError(absl::StrCat("module `",
                                                    module,
                                                    "` is in quarantine: ",
                                                    found->refused,
                                                    "; replace its file, or start assayd again"));
}

absl::StatusOr<v1::RunnerReply> ModuleRunners::call(v1::RunnerRequest request,
                                                    std::chrono::nanoseconds timeout,
                                                    const RunnerProcess::Progress& progress) {
  return current_->call(std::move(request), timeout, progress);
}

absl::Status ModuleRunners::discard(const std::string& failure) {
  last_failure_ = failure;
  return current_->discard(failure);
}

absl::Status ModuleRunners::stop() {
  return current_->stop();
}

void ModuleRunners::kill() {
  own_.kill();
  for (const Module& module : modules_) {
    module.runner->kill();
  }
}

void ModuleRunners::close() {
  own_.close();
  for (const Module& module : modules_) {
    module.runner->close();
  }
}

void ModuleRunners::quarantine(const std::string& why) {
  if (current_module_ != nullptr) {
    current_module_->refused = why;
    log_line("module", {{"quarantine", current_module_->name}, {"because", why}});
  }
}

Description ModuleRunners::description() const {
  Description description = own_description_;
  for (const Module& module : modules_) {
    v1::Module& shown = *description.device.add_modules();
    shown.set_name(module.name);
    shown.set_available(module.refused.empty());
    shown.set_reason(module.refused);
    description.operators.insert(
        description.operators.end(), module.operators.begin(), module.operators.end());
  }
  return description;
}

std::uint32_t ModuleRunners::num_restarts() const {
  std::uint32_t num = own_.num_restarts();
  for (const Module& module : modules_) {
    num += module.runner->num_restarts();
  }
  return num;
}

}  // namespace assay::server
