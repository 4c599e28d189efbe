#include "client/source_folder.h"

#include "proto/status.h"
#include "proto/text.h"
#include "tuning/source_spec.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace assay::client {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

absl::Status check_inside(const std::string& name) {
  bool is_inside = !name.empty() && name.front() != '/';
  for (const absl::string_view part : absl::StrSplit(name, '/')) {
    is_inside = is_inside && part != "..";
  }
  return is_inside
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(
                   "`", name, "` must be relative to the specification's folder, without `..`"));
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

// The name between the quotes of an include directive; empty for any other line.
std::string included_by(std::string_view line) {
  const auto skip_blanks = [&line] {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) {
      line.remove_prefix(1);
    }
  };
  skip_blanks();
  for (const std::string_view word : {std::string_view("#"), std::string_view("include")}) {
    if (!line.starts_with(word)) {
      return "";
    }
    line.remove_prefix(word.size());
    skip_blanks();
  }
  if (line.empty() || line.front() != '"') {
    return "";
  }
  line.remove_prefix(1);
  const std::size_t end = line.find('"');
  return end == std::string_view::npos ? "" : std::string(line.substr(0, end));
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> names;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    std::string name = included_by({line.data(), line.size()});
    if (!name.empty()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

}  // namespace

SourceFolder SourceFolder::of(const std::string& path) {
  return SourceFolder(folder_of(path));
}

absl::StatusOr<std::string> SourceFolder::read(const std::string& name,
                                               std::size_t max_bytes) const {
  ASSAY_RETURN_IF_ERROR(check_inside(name));
  const std::string path = folder_ + name;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  struct stat info = {};
  if (file == nullptr && (errno == ENOENT || errno == ENOTDIR)) {
    return absl::NotFoundError(absl::StrCat(name, " not found"));
  }
  // A folder opens, and a pipe would be waited for.
  if (file == nullptr || fstat(fileno(file.get()), &info) != 0 || !S_ISREG(info.st_mode)) {
    return absl::UnavailableError(absl::StrCat(
        name, " cannot be read: ", file == nullptr ? std::strerror(errno) : "no file"));
  }
  std::string text;
  std::array<char, 65'536> buffer{};
  while (const std::size_t num_bytes = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), num_bytes);
    if (text.size() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat(name,
                       " has ",
                       proto::with_commas(info.st_size),
                       " bytes, the limit is ",
                       proto::with_commas(static_cast<std::int64_t>(max_bytes))));
    }
  }
  if (std::ferror(file.get()) != 0) {
    return absl::UnavailableError(absl::StrCat(name, " cannot be read"));
  }
  return text;
}

absl::Status SourceFolder::read_text(v1::SourceFile& file, const std::string& path) const {
  ASSAY_ASSIGN_OR_RETURN(std::string text, read(path, tuning::kMaxSourceFileBytes));
  if (!proto::is_utf8(text)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not UTF-8 text"));
  }
  file.set_text(std::move(text));
  return absl::OkStatus();
}

absl::Status SourceFolder::read_sources(v1::SourceSpec& spec) const {
  // Where each lies: headers are looked for beside the file that includes them.
  std::map<std::string, std::string> paths;
  for (int i = 0; i < spec.files_size(); ++i) {
    v1::SourceFile& file = *spec.mutable_files(i);
    if (const absl::Status read = read_text(file, file.name()); !read.ok()) {
      return proto::annotate(read, absl::StrCat("source.files[", i, "]"));
    }
    paths.emplace(file.name(), file.name());
  }
  for (int i = 0; i < spec.files_size(); ++i) {
    const std::string field = absl::StrCat("source.files[", i, "]");
    const std::string beside = folder_of(paths[spec.files(i).name()]);
    for (const std::string& name : includes_of(spec.files(i).text())) {
      const std::string path = beside + name;
      if (!check_inside(path).ok() || !check_inside(name).ok()) {
        continue;
      }
      if (const auto known = paths.find(name); known != paths.end()) {
        if (known->second != path && read(path, tuning::kMaxSourceFileBytes).ok()) {
          return absl::InvalidArgumentError(absl::StrCat(field,
                                                         ": includes \"",
                                                         name,
                                                         "\", which is ",
                                                         known->second,
                                                         " for one file and ",
                                                         path,
                                                         " for another"));
        }
        continue;
      }
      v1::SourceFile header;
      header.set_name(name);
      const absl::Status read = read_text(header, path);
      if (read.code() == absl::StatusCode::kNotFound) {
        continue;
      }
      ASSAY_RETURN_IF_ERROR(proto::annotate(read, field));
      if (spec.files_size() == tuning::kMaxSourceFiles) {
        return absl::ResourceExhaustedError(absl::StrCat(field,
                                                         ": includes \"",
                                                         name,
                                                         "\", one more than the limit of ",
                                                         tuning::kMaxSourceFiles,
                                                         " files"));
      }
      paths.emplace(name, path);
      *spec.add_files() = std::move(header);
    }
  }
  return absl::OkStatus();
}

}  // namespace assay::client
