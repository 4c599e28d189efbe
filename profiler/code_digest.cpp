#include "profiler/code_digest.h"

#include "profiler/build_id.h"
#include "profiler/digest.h"

#include "absl/strings/str_cat.h"

namespace assay::profiler {

namespace {

// Of the instructions themselves, whatever they are called and whichever build they are in. Empty
// unless every stage is known to be one kernel.
std::string machine_code_of(const ArmPlan& arm, std::span<const v1::KernelResources> resources) {
  std::string text = "machine code\n";
  for (const v1::KernelResources& kernel : resources) {
    if (kernel.machine_code().empty()) {
      return "";
    }
    absl::StrAppend(&text, kernel.machine_code(), "\n");
  }
  return resources.size() == arm.stages.size() ? text : "";
}

}  // namespace

std::string code_digest_of(const ArmPlan& arm, std::span<const v1::KernelResources> resources) {
  if (const std::string text = machine_code_of(arm, resources); !text.empty()) {
    return digest_bytes(std::as_bytes(std::span(text))).to_hex();
  }
  std::string text = absl::StrCat("build ", build_id(), "\n");
  for (const StagePlan& stage : arm.stages) {
    absl::StrAppend(&text, "stage ", stage.name);
    for (const std::uintptr_t address : stage.code) {
      absl::StrAppend(&text, " ", absl::Hex(address));
    }
    text += '\n';
  }
  for (const v1::KernelResources& kernel : resources) {
    absl::StrAppend(&text,
                    "kernel ",
                    kernel.kernel(),
                    " ",
                    kernel.num_registers(),
                    " ",
                    kernel.static_shared_bytes(),
                    " ",
                    kernel.dynamic_shared_bytes(),
                    " ",
                    kernel.local_bytes(),
                    " ",
                    kernel.num_threads(),
                    "\n");
  }
  return digest_bytes(std::as_bytes(std::span(text))).to_hex();
}

}  // namespace assay::profiler
