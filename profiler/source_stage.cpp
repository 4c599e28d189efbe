#include "profiler/source_stage.h"

#include "profiler/checked_call.h"
#include "profiler/cubin.h"
#include "profiler/failure_class.h"
#include "profiler/kernel_name.h"
#include "profiler/machine_code.h"
#include "profiler/poison.h"
#include "profiler/refusal.h"
#include "profiler/tolerance.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include <algorithm>

namespace assay::profiler {
namespace {

constexpr std::int64_t kPointerBytes = 8;

// What is passed must be what the kernel reads, by number and size.
absl::Status check_arguments(const v1::SourceStage& stage,
                             const std::vector<std::int64_t>& parameters,
                             const tuning::StageSizes& sizes) {
  const auto num_given = static_cast<std::size_t>(stage.arguments_size());
  if (num_given != parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat("stage ",
                                                   stage.name(),
                                                   ": kernel `",
                                                   stage.kernel(),
                                                   "` takes ",
                                                   parameters.size(),
                                                   " arguments, ",
                                                   num_given,
                                                   " are given"));
  }
  for (std::size_t index = 0; index < num_given; ++index) {
    const v1::SourceArgument& argument = stage.arguments(static_cast<int>(index));
    const std::int64_t given = argument.tensor().empty()
                                   ? static_cast<std::int64_t>(sizes.scalars[index].size())
                                   : kPointerBytes;
    if (given != parameters[index]) {
      return absl::InvalidArgumentError(
          absl::StrCat("stage ",
                       stage.name(),
                       ": arguments[",
                       index,
                       "]: kernel `",
                       stage.kernel(),
                       "` takes ",
                       parameters[index],
                       " bytes there, ",
                       argument.tensor().empty() ? absl::StrCat("an ", argument.dtype())
                                                 : absl::StrCat("the tensor ", argument.tensor()),
                       " has ",
                       given));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SourceLaunch> source_launch(const v1::SourceStage& stage,
                                           const SourceModule& module,
                                           tuning::StageSizes sizes,
                                           const SourceProblem& problem) {
  SourceLaunch launch;
  launch.stage = stage.name();
  launch.code = module.code;
  const auto name = std::ranges::find(module.names, stage.kernel());
  launch.symbol =
      module.compiled->symbols.at(static_cast<std::size_t>(name - module.names.begin()));
  launch.kernel = short_kernel_name(launch.symbol.c_str());
  ASSAY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> parameters,
                         parameter_bytes(module.compiled->cubin, launch.symbol));
  ASSAY_RETURN_IF_ERROR(check_arguments(stage, parameters, sizes));
  for (const v1::SourceArgument& argument : stage.arguments()) {
    launch.tensors.push_back(
        argument.tensor().empty() ? -1 : static_cast<int>(problem.place_of(argument.tensor())));
  }
  launch.sizes = std::move(sizes);
  if (const auto digest = machine_code_digest(module.compiled->cubin, launch.symbol); digest.ok()) {
    launch.machine_code = digest->to_hex();
  }
  return launch;
}

std::vector<std::uintptr_t> identity_words(const SourceModule& module) {
  std::vector<std::uintptr_t> words;
  constexpr std::size_t kDigits = 16;
  for (std::size_t at = 0; at + kDigits <= module.compiled->identity.size(); at += kDigits) {
    std::uint64_t word = 0;
    static_cast<void>(absl::SimpleHexAtoi(module.compiled->identity.substr(at, kDigits), &word));
    words.push_back(word);
  }
  return words;
}

absl::Status run_reference(const ArmPlan& arm,
                           SourceProblem& problem,
                           const std::vector<std::string>& tensors,
                           Device& device,
                           Workspace& workspace) {
  const std::string what = absl::StrCat("reference variant `", arm.arm.variant(), "`");
  absl::Status finished;
  HostOutputs outputs;
  ASSAY_RETURN_IF_ERROR(
      checked_call(device, workspace, problem, arm, kFirstPoison, nullptr, finished, outputs));
  if (!finished.ok()) {
    return refused(with_failure(proto::annotate(finished, what), v1::LAUNCH));
  }
  ASSAY_ASSIGN_OR_RETURN(const std::string overrun, workspace.find_overrun());
  ASSAY_ASSIGN_OR_RETURN(const std::string changed, workspace.find_changed_input(0));
  if (!overrun.empty() || !changed.empty()) {
    workspace.forget();
    return refused(
        with_failure(absl::FailedPreconditionError(
                         overrun.empty() ? absl::StrCat(what, ": input `", changed, "` was changed")
                                         : absl::StrCat(what, ": written ", overrun)),
                     v1::WRONG_OUTPUT));
  }
  for (std::size_t place = 0; place < workspace.compared().size(); ++place) {
    const ComparedTensor& compared = workspace.compared()[place];
    if (std::ranges::find(tensors, compared.layout.name) == tensors.end()) {
      continue;
    }
    const kernels::TensorSpec& spec = problem.tensors()[compared.tensor];
    const std::int64_t size = kernels::size_bytes(spec.dtype);
    std::vector<double> values(static_cast<std::size_t>(kernels::num_elements(spec)));
    for (std::size_t index = 0; index < values.size(); ++index) {
      values[index] = element_value(
          spec.dtype, outputs.bytes[place].data() + static_cast<std::int64_t>(index) * size);
    }
    problem.set_reference(compared.tensor, std::move(values));
  }
  return absl::OkStatus();
}

}  // namespace assay::profiler
