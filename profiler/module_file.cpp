#include "profiler/module_file.h"

#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::profiler {
namespace {

constexpr std::string_view kEnding = ".so";
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::int64_t kSecond_ns = 1'000'000'000;

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kSecond_ns + time.tv_nsec;
}

// `what` is "it" or "its folder".
absl::Status check_owner(const struct stat& status, const std::string& what) {
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return absl::FailedPreconditionError(absl::StrCat(
        what, " belongs to user ", status.st_uid, "; it must be root's or this user's"));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(what, " is writable by others than its owner (chmod go-w)"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> module_name_of(const std::string& path) {
  std::string_view name = path;
  name.remove_prefix(name.rfind('/') + 1);
  const bool has_ending = name.ends_with(kEnding);
  name.remove_suffix(has_ending ? kEnding.size() : 0);
  const bool is_plain = std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  if (!has_ending || !is_plain || name.empty() || name.size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        "its name must be 1 to 64 letters, digits, '_' or '-', and .so");
  }
  return std::string(name);
}

std::string_view module_of_operator(std::string_view operator_name) {
  const std::size_t dot = operator_name.find('.');
  return operator_name.substr(0, dot == std::string_view::npos ? 0 : dot);
}

absl::Status check_module_file(const std::string& path) {
  ASSAY_RETURN_IF_ERROR(module_name_of(path).status());
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) {
    return absl::NotFoundError(absl::StrCat("it cannot be looked at: ", std::strerror(errno)));
  }
  if (!S_ISREG(file.st_mode)) {
    return absl::FailedPreconditionError(S_ISLNK(file.st_mode) ? "it is a link, not a file"
                                                               : "it is no regular file");
  }
  ASSAY_RETURN_IF_ERROR(check_owner(file, "it"));
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat folder = {};
  if (stat(parent.c_str(), &folder) != 0) {
    return absl::NotFoundError(
        absl::StrCat("its folder cannot be looked at: ", std::strerror(errno)));
  }
  return check_owner(folder, "its folder");
}

absl::StatusOr<std::vector<std::string>> list_module_files(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    if (entry->path().native().ends_with(kEnding)) {
      paths.push_back(entry->path().string());
    }
    entry.increment(error);
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("module folder `", folder, "` cannot be read: ", error.message()));
  }
  std::ranges::sort(paths);
  return paths;
}

FileStamp stamp_of(const std::string& path) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0) {
    return {};
  }
  return {.device = file.st_dev,
          .inode = file.st_ino,
          .num_bytes = file.st_size,
          .modified_ns = nanoseconds(file.st_mtim),
          .changed_ns = nanoseconds(file.st_ctim)};
}

}  // namespace assay::profiler
