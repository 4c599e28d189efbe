#include "profiler/module_library.h"

#include "profiler/build_id.h"
#include "profiler/digest.h"
#include "profiler/module_file.h"
#include "profiler/module_operator.h"
#include "profiler/module_slots.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include <deque>
#include <dlfcn.h>
#include <fstream>
#include <iterator>

namespace assay::profiler {
namespace {

absl::StatusOr<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) {
    return absl::FailedPreconditionError("it cannot be read");
  }
  return bytes;
}

// The loader's own words, without the folder.
absl::Status loader_error(const std::string& path, const std::string& name) {
  const char* error = dlerror();
  return absl::FailedPreconditionError(
      error == nullptr ? "the loader gives no reason"
                       : absl::StrReplaceAll(error, {{path, absl::StrCat(name, ".so")}}));
}

class LoadedModule : public ModuleLibrary {
 public:
  explicit LoadedModule(std::string name) : name_(std::move(name)) { module_slots() = &slots_; }

  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  // The library stays loaded: threads of its own may still be in it.
  ~LoadedModule() override { module_slots() = nullptr; }

  const std::string& name() const override { return name_; }

  std::span<const kernels::Operator* const> operators() const override { return operators_; }

  absl::Status add_operators(const assay_module_table* table) {
    ASSAY_ASSIGN_OR_RETURN(std::vector<ModuleOperator> rows, read_module_table(table));
    for (ModuleOperator& row : rows) {
      const std::size_t place = tables_.size();
      tables_.push_back(std::make_unique<ModuleOperatorTables>(std::move(row), name_));
      slots_.operators.push_back(tables_.back().get());
      ASSAY_RETURN_IF_ERROR(tables_.back()->build(place, slots_));
      operators_.push_back(&tables_.back()->definition());
    }
    return absl::OkStatus();
  }

 private:
  std::string name_;
  std::vector<const kernels::Operator*> operators_;
  ModuleSlots slots_;
  std::vector<std::unique_ptr<ModuleOperatorTables>> tables_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ModuleLibrary>> ModuleLibrary::load(const std::string& path) {
  if (module_slots() != nullptr) {
    return absl::FailedPreconditionError("a module is loaded already");
  }
  ASSAY_ASSIGN_OR_RETURN(std::string name, module_name_of(path));
  ASSAY_RETURN_IF_ERROR(check_module_file(path));
  ASSAY_ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  // A path without a slash would be searched for.
  const std::string found = path.find('/') == std::string::npos ? absl::StrCat("./", path) : path;
  void* const handle = dlopen(found.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return loader_error(found, name);
  }
  void* const symbol = dlsym(handle, "assay_module");
  if (symbol == nullptr) {
    return loader_error(found, name);
  }
  auto module = std::make_unique<LoadedModule>(std::move(name));
  ASSAY_RETURN_IF_ERROR(module->add_operators(reinterpret_cast<assay_module_function>(symbol)()));
  add_library_to_build_id(digest_bytes(std::as_bytes(std::span(bytes))).to_hex());
  return module;
}

}  // namespace assay::profiler
