#include "profiler/compile_job.h"

#include "profiler/compile_options.h"
#include "profiler/digest.h"
#include "profiler/source_limits.h"
#include "proto/status.h"
#include "proto/text.h"
#include "tuning/source_spec.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <set>

namespace assay::profiler {
namespace {

std::string amount(std::size_t number) {
  return proto::with_commas(static_cast<std::int64_t>(number));
}

absl::Status over_limit(const std::string& field, std::size_t size, std::size_t limit) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": ", amount(size), " bytes are over the limit of ", amount(limit)));
}

// Names are looked up as they are written in an #include, and stand in what the compiler says.
absl::Status check_name(const std::string& field, const std::string& name) {
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  const bool is_printed = std::ranges::all_of(name, [](char letter) {
    return absl::ascii_isalnum(static_cast<unsigned char>(letter)) ||
           absl::StrContains("_-+./", std::string(1, letter));
  });
  const bool is_inside = std::ranges::none_of(
      parts, [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
  return is_printed && is_inside && name.size() <= kMostOptionBytes
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   absl::StrCat(field,
                                ": must be a relative path of letters, digits, _, -, + and dots, "
                                "without `..`"));
}

absl::Status check_files(const CompileJob& job) {
  if (job.files.size() > std::size_t{tuning::kMaxSourceFiles}) {
    return absl::InvalidArgumentError(absl::StrCat(
        "files: ", job.files.size(), " are over the limit of ", tuning::kMaxSourceFiles));
  }
  std::set<std::string> names;
  std::size_t num_bytes = 0;
  for (std::size_t place = 0; place < job.files.size(); ++place) {
    const v1::SourceFile& file = job.files[place];
    const std::string field = absl::StrCat("files[", place, "]");
    ASSAY_RETURN_IF_ERROR(check_name(absl::StrCat(field, ".name"), file.name()));
    if (!names.insert(file.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ".name: `", file.name(), "` is there already"));
    }
    if (file.text().size() > tuning::kMaxSourceFileBytes) {
      return over_limit(
          absl::StrCat(field, ".text"), file.text().size(), tuning::kMaxSourceFileBytes);
    }
    if (absl::StrContains(file.text(), '\0')) {
      return absl::InvalidArgumentError(absl::StrCat(field, ".text: holds a zero byte"));
    }
    num_bytes += file.text().size();
  }
  if (num_bytes > tuning::kMaxSourceBytes) {
    return over_limit("files", num_bytes, tuning::kMaxSourceBytes);
  }
  return absl::OkStatus();
}

bool is_architecture(const std::string& text) {
  return absl::StartsWith(text, "sm_") && text.size() > 3 && text.size() < 10 &&
         std::ranges::all_of(text.substr(3), [](char letter) {
           return absl::ascii_isdigit(static_cast<unsigned char>(letter)) || letter == 'a' ||
                  letter == 'f';
         });
}

absl::Status add_options(const CompileJob& job, v1::CompileRequest& request) {
  if (job.options.size() + job.defines.size() + job.names.size() > kMostOptions) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: more than ", kMostOptions, ", defines and names among them"));
  }
  for (std::size_t place = 0; place < job.options.size(); ++place) {
    auto option = compile_option(job.options[place]);
    if (!option.ok()) {
      return proto::annotate(option.status(), absl::StrCat("options[", place, "]"));
    }
    request.add_options(*std::move(option));
  }
  for (std::size_t place = 0; place < job.defines.size(); ++place) {
    auto option = define_option(job.defines[place]);
    if (!option.ok()) {
      return proto::annotate(option.status(), absl::StrCat("defines[", place, "]"));
    }
    request.add_options(*std::move(option));
  }
  return absl::OkStatus();
}

absl::Status add_names(const CompileJob& job, v1::CompileRequest& request) {
  for (const std::string& name : job.names) {
    const bool is_line = std::ranges::none_of(
        name, [](char letter) { return absl::ascii_iscntrl(static_cast<unsigned char>(letter)); });
    if (name.empty() || name.size() > kMostOptionBytes || !is_line) {
      return absl::InvalidArgumentError(
          absl::StrCat("kernel: must be a name or a name expression on one line of at most ",
                       kMostOptionBytes,
                       " bytes"));
    }
    request.add_names(name);
  }
  return absl::OkStatus();
}

// With the length first, so that no two texts run together.
void append(const std::string& text, std::string& to) {
  absl::StrAppend(&to, text.size(), ":", text);
}

}  // namespace

absl::StatusOr<v1::CompileRequest> compile_request(const CompileJob& job) {
  ASSAY_RETURN_IF_ERROR(check_files(job));
  if (!is_architecture(job.architecture)) {
    return absl::InvalidArgumentError(
        absl::StrCat("architecture: `", job.architecture, "` is not of the form sm_90"));
  }
  v1::CompileRequest request;
  const auto source = std::ranges::find(job.files, job.source, &v1::SourceFile::name);
  if (source == job.files.end()) {
    return absl::InvalidArgumentError(absl::StrCat("file: no file `", job.source, "`"));
  }
  *request.add_files() = *source;
  for (const v1::SourceFile& file : job.files) {
    if (file.name() != job.source) {
      *request.add_files() = file;
    }
  }
  request.add_options(absl::StrCat("--gpu-architecture=", job.architecture));
  ASSAY_RETURN_IF_ERROR(add_options(job, request));
  ASSAY_RETURN_IF_ERROR(add_names(job, request));
  return request;
}

std::string identity_of(const v1::CompileRequest& request, const std::string& version) {
  std::string text = "source\n";
  append(version, text);
  for (const v1::SourceFile& file : request.files()) {
    append(file.name(), text);
    append(file.text(), text);
  }
  for (const auto* const list : {&request.options(), &request.names()}) {
    absl::StrAppend(&text, list->size(), "\n");
    for (const std::string& entry : *list) {
      append(entry, text);
    }
  }
  return digest_bytes(std::as_bytes(std::span(text))).to_hex();
}

}  // namespace assay::profiler
