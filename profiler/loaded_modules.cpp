#include "profiler/loaded_modules.h"

#include "profiler/machine_code.h"

#include "absl/strings/str_cat.h"

namespace assay::profiler {
namespace {

thread_local int num_unkept = 0;

}  // namespace

UnkeptModules::UnkeptModules() {
  ++num_unkept;
}

UnkeptModules::~UnkeptModules() {
  --num_unkept;
}

void LoadedModules::add(std::span<const std::byte> cubin) {
  if (num_unkept > 0) {
    return;
  }
  std::vector<std::byte> image(cubin.begin(), cubin.end());
  const std::lock_guard lock(mutex_);
  images_.push_back(std::move(image));
}

absl::StatusOr<std::string> LoadedModules::machine_code(std::string_view kernel) const {
  const std::lock_guard lock(mutex_);
  absl::Status missing = absl::NotFoundError(
      absl::StrCat("no loaded module has the kernel `", std::string(kernel), "`"));
  for (auto image = images_.rbegin(); image != images_.rend(); ++image) {
    const auto digest = machine_code_digest(*image, kernel);
    if (digest.ok()) {
      return digest->to_hex();
    }
    if (!absl::IsNotFound(digest.status())) {
      missing = digest.status();
    }
  }
  return missing;
}

}  // namespace assay::profiler
