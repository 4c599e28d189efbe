#include "profiler/cupti_library.h"

#include "absl/strings/str_cat.h"

#include <cupti.h>

#include <array>
#include <string>

namespace assay::profiler {
namespace {

constexpr std::array<const char*, 5> kLibraries = {"libcupti.so.13",
                                                   "libcupti.so",
                                                   "/usr/local/cuda/lib64/libcupti.so",
                                                   "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                                   "libcupti.so.12"};

}  // namespace

absl::Status CuptiLibrary::status_of(CUptiResult result, const char* call) const {
  if (result == CUPTI_SUCCESS) {
    return absl::OkStatus();
  }
  const char* name = nullptr;
  result_string(result, &name);
  const std::string message = absl::StrCat(
      call, ": ", name == nullptr ? "unknown" : name, " (", static_cast<int>(result), ")");
  // The driver's own name for it is ERR_NVGPUCTRPERM.
  return result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
                 result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES
             ? absl::PermissionDeniedError(message)
             : absl::UnavailableError(message);
}

absl::StatusOr<CuptiLibrary> load_cupti() {
  CuptiLibrary library;
  for (const char* name : kLibraries) {
    library.handle =
        library.handle == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library.handle;
  }
  if (library.handle == nullptr) {
    return absl::UnavailableError("libcupti.so cannot be loaded");
  }
  decltype(&cuptiGetVersion) get_version = nullptr;
  if (!find(library.handle, "cuptiGetVersion", get_version) ||
      !find(library.handle, "cuptiGetResultString", library.result_string)) {
    return absl::UnavailableError("libcupti.so lacks a function that is needed");
  }
  constexpr std::uint32_t kVersionsPerMajor = 10'000;
  if (get_version(&library.version) != CUPTI_SUCCESS ||
      library.version / kVersionsPerMajor != CUPTI_API_VERSION / kVersionsPerMajor) {
    return absl::UnavailableError(absl::StrCat("libcupti.so has API version ",
                                               library.version,
                                               ", this program was built for ",
                                               CUPTI_API_VERSION));
  }
  return library;
}

}  // namespace assay::profiler
