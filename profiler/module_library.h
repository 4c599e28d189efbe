// A module (kernels/module.h): a shared library with kernels of somebody else, loaded into this
// process for good and turned into operators. One a process: a fault of its own must hurt no other.
#pragma once

#include "kernels/operator.h"

#include "absl/status/statusor.h"

#include <memory>
#include <span>
#include <string>

namespace assay::profiler {

class ModuleLibrary {
 public:
  // Once a process. The file must pass check_module_file(). FAILED_PRECONDITION and
  // INVALID_ARGUMENT say what is wrong with the file or its tables; errors name no path.
  static absl::StatusOr<std::unique_ptr<ModuleLibrary>> load(const std::string& path);
  ModuleLibrary(const ModuleLibrary&) = delete;
  ModuleLibrary& operator=(const ModuleLibrary&) = delete;
  virtual ~ModuleLibrary() = default;

  // The file's, without folder and ending.
  virtual const std::string& name() const = 0;

  // Named MODULE.OPERATOR, so that none hides a built-in one; sorted as the module has them.
  virtual std::span<const kernels::Operator* const> operators() const = 0;

 protected:
  ModuleLibrary() = default;
};

}  // namespace assay::profiler
