#include "profiler/compile_worker.h"

#include "profiler/frames.h"
#include "profiler/nvrtc_library.h"
#include "profiler/sandbox.h"
#include "profiler/source_limits.h"
#include "proto/compiler.pb.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include <climits>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace assay::profiler {
namespace {

constexpr std::chrono::seconds kWriteTimeout{60};

class Program {
 public:
  explicit Program(const NvrtcLibrary& nvrtc) : nvrtc_(nvrtc) {}

  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  ~Program() {
    if (program_ != nullptr) {
      nvrtc_.destroy(&program_);
    }
  }

  absl::Status create(const v1::CompileRequest& request, bool with_names) {
    std::vector<const char*> headers;
    std::vector<const char*> header_names;
    for (int place = 1; place < request.files_size(); ++place) {
      headers.push_back(request.files(place).text().c_str());
      header_names.push_back(request.files(place).name().c_str());
    }
    ASSAY_RETURN_IF_ERROR(nvrtc_.status_of(nvrtc_.create(&program_,
                                                         request.files(0).text().c_str(),
                                                         request.files(0).name().c_str(),
                                                         static_cast<int>(headers.size()),
                                                         headers.data(),
                                                         header_names.data()),
                                           "nvrtcCreateProgram"));
    if (with_names) {
      for (const std::string& name : request.names()) {
        ASSAY_RETURN_IF_ERROR(
            nvrtc_.status_of(nvrtc_.add_name(program_, name.c_str()), "nvrtcAddNameExpression"));
      }
    }
    return absl::OkStatus();
  }

  NvrtcResult compile(const v1::CompileRequest& request,
                      const std::vector<std::string>& include_options) {
    std::vector<const char*> options;
    for (const std::string& option : request.options()) {
      options.push_back(option.c_str());
    }
    for (const std::string& option : include_options) {
      options.push_back(option.c_str());
    }
    return nvrtc_.compile(program_, static_cast<int>(options.size()), options.data());
  }

  absl::Status read_log(std::string& log) {
    std::size_t size = 0;
    ASSAY_RETURN_IF_ERROR(
        nvrtc_.status_of(nvrtc_.log_size(program_, &size), "nvrtcGetProgramLogSize"));
    log.resize(size);
    ASSAY_RETURN_IF_ERROR(nvrtc_.status_of(nvrtc_.log(program_, log.data()), "nvrtcGetProgramLog"));
    // Room for what is scrubbed out of it.
    log.resize(std::min(log.size(), 4 * kMostLogBytes));
    return absl::OkStatus();
  }

  absl::Status read_cubin(std::string& cubin) {
    std::size_t size = 0;
    ASSAY_RETURN_IF_ERROR(
        nvrtc_.status_of(nvrtc_.cubin_size(program_, &size), "nvrtcGetCUBINSize"));
    if (size > kMostCubinBytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("machine code of ", size, " bytes is over the limit of ", kMostCubinBytes));
    }
    cubin.resize(size);
    return nvrtc_.status_of(nvrtc_.cubin(program_, cubin.data()), "nvrtcGetCUBIN");
  }

  absl::StatusOr<std::string> symbol(const std::string& name) {
    const char* lowered = nullptr;
    ASSAY_RETURN_IF_ERROR(nvrtc_.status_of(nvrtc_.lowered_name(program_, name.c_str(), &lowered),
                                           "nvrtcGetLoweredName"));
    return std::string(lowered == nullptr ? "" : lowered);
  }

 private:
  const NvrtcLibrary& nvrtc_;
  NvrtcProgram* program_ = nullptr;
};

class Worker {
 public:
  Worker(NvrtcLibrary nvrtc, const v1::CompilerSettings& settings) : nvrtc_(std::move(nvrtc)) {
    for (const std::string& folder : settings.include_folders()) {
      include_options_.push_back(absl::StrCat("-I", folder));
    }
  }

  absl::Status compile(const v1::CompileRequest& request, v1::CompileReply& reply) {
    if (request.files().empty()) {
      return absl::InvalidArgumentError("files: no source");
    }
    ASSAY_RETURN_IF_ERROR(limit_processor_time(std::chrono::seconds(request.processor_seconds())));
    Program program(nvrtc_);
    ASSAY_RETURN_IF_ERROR(program.create(request, true));
    const NvrtcResult result = program.compile(request, include_options_);
    ASSAY_RETURN_IF_ERROR(program.read_log(*reply.mutable_log()));
    if (result == kNvrtcCompilation) {
      return without_names(request, reply);
    }
    if (result == kNvrtcInvalidOption) {
      return absl::InvalidArgumentError("the compiler does not take these options");
    }
    ASSAY_RETURN_IF_ERROR(nvrtc_.status_of(result, "nvrtcCompileProgram"));
    ASSAY_RETURN_IF_ERROR(program.read_cubin(*reply.mutable_cubin()));
    for (const std::string& name : request.names()) {
      ASSAY_ASSIGN_OR_RETURN(*reply.add_symbols(), program.symbol(name));
    }
    return absl::OkStatus();
  }

 private:
  // Whether the source itself compiles: then it is the names that it does not have.
  absl::Status without_names(const v1::CompileRequest& request, v1::CompileReply& reply) {
    absl::Status error = absl::InvalidArgumentError("the source does not compile");
    if (request.names().empty()) {
      return error;
    }
    Program program(nvrtc_);
    ASSAY_RETURN_IF_ERROR(program.create(request, false));
    if (program.compile(request, include_options_) != kNvrtcSuccess) {
      return error;
    }
    ASSAY_RETURN_IF_ERROR(program.read_cubin(*reply.mutable_cubin()));
    return absl::NotFoundError("no such kernel");
  }

  NvrtcLibrary nvrtc_;
  std::vector<std::string> include_options_;
};

bool is_of_the_source(const absl::Status& status) {
  return status.ok() || absl::IsInvalidArgument(status) || absl::IsNotFound(status);
}

absl::StatusOr<NvrtcLibrary> prepare(const v1::CompilerSettings& settings) {
  ASSAY_ASSIGN_OR_RETURN(NvrtcLibrary nvrtc, NvrtcLibrary::load(settings.library()));
  ASSAY_RETURN_IF_ERROR(limit_resources(settings.memory_bytes()));
  std::vector<std::string> folders(settings.include_folders().begin(),
                                   settings.include_folders().end());
  folders.push_back(settings.library().substr(0, settings.library().rfind('/') + 1));
  if (absl::Status status = lock_in(folders); !status.ok() && !settings.allow_unsandboxed()) {
    return status;
  }
  return nvrtc;
}

absl::Status serve(int in_fd, int out_fd) {
  FrameReader reader(in_fd);
  v1::CompilerSettings settings;
  ASSAY_RETURN_IF_ERROR(reader.read(settings, Deadline::max()));
  auto nvrtc = prepare(settings);
  v1::CompilerReady ready;
  ready.set_code(static_cast<int>(nvrtc.status().code()));
  ready.set_message(std::string(nvrtc.status().message()));
  ready.set_version(nvrtc.ok() ? nvrtc->version : "");
  ASSAY_RETURN_IF_ERROR(write_frame(out_fd, ready, deadline_after(kWriteTimeout)));
  ASSAY_RETURN_IF_ERROR(nvrtc.status());

  Worker worker(*std::move(nvrtc), settings);
  while (true) {
    v1::CompileRequest request;
    ASSAY_RETURN_IF_ERROR(reader.read(request, Deadline::max()));
    v1::CompileReply reply;
    absl::Status status = worker.compile(request, reply);
    reply.set_code(static_cast<int>(status.code()));
    reply.set_message(std::string(status.message()));
    ASSAY_RETURN_IF_ERROR(write_frame(out_fd, reply, deadline_after(kWriteTimeout)));
    if (!is_of_the_source(status)) {
      return status;
    }
  }
}

}  // namespace

int run_compile_worker(int in_fd, int out_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);
  syscall(SYS_close_range,
          static_cast<unsigned>(std::max({in_fd, out_fd, STDERR_FILENO}) + 1),
          UINT_MAX,
          0U);
  // What the loader needed of it was needed before main().
  if (clearenv() != 0 || chdir("/") != 0) {
    return 1;
  }
  const absl::Status status = serve(in_fd, out_fd);
  return absl::IsUnavailable(status) ? 0 : 1;
}

}  // namespace assay::profiler
