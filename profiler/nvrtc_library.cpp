#include "profiler/nvrtc_library.h"

#include "absl/strings/str_cat.h"

#include <dlfcn.h>

namespace assay::profiler {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

absl::Status NvrtcLibrary::status_of(NvrtcResult result, const char* call) const {
  if (result == kNvrtcSuccess) {
    return absl::OkStatus();
  }
  const std::string message = absl::StrCat(call, ": ", error_string(result));
  return result == kNvrtcOutOfMemory ? absl::ResourceExhaustedError(message)
                                     : absl::InternalError(message);
}

absl::StatusOr<NvrtcLibrary> NvrtcLibrary::load(const std::string& path) {
  // Stays loaded to the end of the process.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("NVRTC cannot be loaded: ", dlerror()));
  }
  NvrtcLibrary nvrtc;
  NvrtcResult (*get_version)(int* major, int* minor) = nullptr;
  if (!find(library, "nvrtcVersion", get_version) ||
      !find(library, "nvrtcGetErrorString", nvrtc.error_string) ||
      !find(library, "nvrtcCreateProgram", nvrtc.create) ||
      !find(library, "nvrtcDestroyProgram", nvrtc.destroy) ||
      !find(library, "nvrtcAddNameExpression", nvrtc.add_name) ||
      !find(library, "nvrtcCompileProgram", nvrtc.compile) ||
      !find(library, "nvrtcGetProgramLogSize", nvrtc.log_size) ||
      !find(library, "nvrtcGetProgramLog", nvrtc.log) ||
      !find(library, "nvrtcGetCUBINSize", nvrtc.cubin_size) ||
      !find(library, "nvrtcGetCUBIN", nvrtc.cubin) ||
      !find(library, "nvrtcGetLoweredName", nvrtc.lowered_name)) {
    return absl::FailedPreconditionError("NVRTC lacks a function that is needed");
  }
  int major = 0;
  int minor = 0;
  if (get_version(&major, &minor) != kNvrtcSuccess) {
    return absl::FailedPreconditionError("NVRTC does not tell its version");
  }
  nvrtc.version = absl::StrCat(major, ".", minor);
  // It asks for this one by its bare name, which is then found among what is loaded.
  const std::string builtins =
      absl::StrCat(path.substr(0, path.rfind('/') + 1), "libnvrtc-builtins.so.", nvrtc.version);
  if (dlopen(builtins.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat("NVRTC cannot be used: ", dlerror()));
  }
  return nvrtc;
}

}  // namespace assay::profiler
