#include "profiler/source_compiler.h"

#include "profiler/compile_job.h"
#include "profiler/compile_log.h"
#include "profiler/cubin.h"
#include "profiler/failure_class.h"
#include "profiler/kernel_name.h"
#include "profiler/sandbox.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <set>
#include <utility>

namespace assay::profiler {
namespace {

constexpr std::size_t kMostListed = 50;

absl::Status no_sandbox(const absl::Status& why) {
  return absl::FailedPreconditionError(absl::StrCat(
      std::string(why.message()),
      "; source of people that you trust is compiled all the same when the daemon is started with "
      "--allow-unsandboxed-source"));
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// What the module holds instead of the kernel that was asked for.
std::string kernels_there(const std::vector<std::byte>& cubin) {
  const auto kernels = kernels_of(cubin);
  if (!kernels.ok() || kernels->empty()) {
    return "the module holds no kernel (a template has one for each name expression, as "
           "scale<float, 4>)";
  }
  std::string text = "the module holds ";
  const std::size_t num_listed = std::min(kernels->size(), kMostListed);
  for (std::size_t place = 0; place < num_listed; ++place) {
    absl::StrAppend(&text, place == 0 ? "" : ", ", whole_kernel_name((*kernels)[place].c_str()));
  }
  if (kernels->size() > num_listed) {
    absl::StrAppend(&text, " and ", kernels->size() - num_listed, " more");
  }
  return text;
}

}  // namespace

absl::Status SourceCompiler::availability(bool allow_unsandboxed) {
  ASSAY_RETURN_IF_ERROR(find_toolkit_files().status());
  const absl::Status sandbox = sandbox_supported();
  return sandbox.ok() || allow_unsandboxed ? absl::OkStatus() : no_sandbox(sandbox);
}

absl::Status SourceCompiler::ready_process() {
  if (process_ != nullptr) {
    return absl::OkStatus();
  }
  ASSAY_RETURN_IF_ERROR(availability(settings_.allow_unsandboxed));
  ASSAY_ASSIGN_OR_RETURN(files_, find_toolkit_files());
  v1::CompilerSettings settings;
  settings.set_library(files_->library);
  settings.mutable_include_folders()->Add(files_->include_folders.begin(),
                                          files_->include_folders.end());
  settings.set_memory_bytes(settings_.limits.memory_bytes);
  settings.set_allow_unsandboxed(settings_.allow_unsandboxed);
  ASSAY_ASSIGN_OR_RETURN(process_,
                         CompilerProcess::start(settings_.program, settings, settings_.limits));
  version_ = process_->version();
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const CompiledSource>> SourceCompiler::compile(
    const CompileJob& job) {
  auto compiled = compile_checked(job);
  return compiled.ok() ? std::move(compiled) : with_failure(compiled.status(), v1::COMPILE);
}

absl::StatusOr<std::shared_ptr<const CompiledSource>> SourceCompiler::compile_checked(
    const CompileJob& job) {
  ASSAY_ASSIGN_OR_RETURN(const v1::CompileRequest request, compile_request(job));
  if (version_.empty()) {
    ASSAY_RETURN_IF_ERROR(ready_process());
  }
  if (auto kept = find_kept(identity_of(request, version_)); kept != nullptr) {
    return kept;
  }
  ASSAY_RETURN_IF_ERROR(ready_process());
  ASSAY_ASSIGN_OR_RETURN(CompiledSource compiled, run(job, request));
  auto shared = std::make_shared<const CompiledSource>(std::move(compiled));
  keep(shared);
  return shared;
}

absl::StatusOr<CompiledSource> SourceCompiler::run(const CompileJob& job,
                                                   const v1::CompileRequest& request) {
  const auto reply = process_->compile(request);
  if (!reply.ok()) {
    process_.reset();
    return reply.status();
  }
  std::set<std::string> own_files;
  for (const v1::SourceFile& file : job.files) {
    own_files.insert(file.name());
  }
  const std::string log = scrub_log(reply->log(), own_files, files_->include_folders);
  const absl::Status status(static_cast<absl::StatusCode>(reply->code()), reply->message());
  if (absl::IsNotFound(status)) {
    return absl::NotFoundError(absl::StrCat("no kernel `",
                                            absl::StrJoin(job.names, "`, `"),
                                            "` in `",
                                            job.source,
                                            "`: ",
                                            kernels_there(bytes_of(reply->cubin())),
                                            "\n",
                                            log));
  }
  if (absl::IsInvalidArgument(status)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", job.source, "`: ", reply->message(), "\n", log));
  }
  if (!status.ok()) {
    process_.reset();
    return status;
  }
  return CompiledSource{.cubin = bytes_of(reply->cubin()),
                        .symbols = {reply->symbols().begin(), reply->symbols().end()},
                        .log = log,
                        .identity = identity_of(request, version_),
                        .compiler = absl::StrCat("NVRTC ", version_)};
}

std::shared_ptr<const CompiledSource> SourceCompiler::find_kept(const std::string& identity) {
  const auto found =
      std::ranges::find(kept_, identity, [](const auto& compiled) { return compiled->identity; });
  if (found == kept_.end()) {
    return nullptr;
  }
  kept_.splice(kept_.begin(), kept_, found);
  return kept_.front();
}

void SourceCompiler::keep(std::shared_ptr<const CompiledSource> compiled) {
  kept_.push_front(std::move(compiled));
  std::size_t num_bytes = 0;
  std::size_t num_kept = 0;
  const auto end = std::ranges::find_if(kept_, [&](const auto& one) {
    num_bytes += one->cubin.size();
    return ++num_kept > kMostKeptCubins || num_bytes > kMostKeptCubinBytes;
  });
  kept_.erase(end, kept_.end());
}

}  // namespace assay::profiler
