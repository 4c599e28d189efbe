#include "profiler/toolkit_files.h"

#include "absl/strings/str_split.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>

namespace assay::profiler {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kLibraries = {"libnvrtc.so.13", "libnvrtc.so.12"};
constexpr std::array<const char*, 5> kLibraryFolders = {
    "lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib/x86_64-linux-gnu"};
constexpr std::array<const char*, 4> kSystemFolders = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"};
constexpr std::array<const char*, 3> kIncludeFolders = {
    "include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The plain link first, then the newest version.
std::vector<fs::path> toolkits() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("cuda-")) {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found, std::greater());
  if (is_there("/usr/local/cuda")) {
    found.insert(found.begin(), "/usr/local/cuda");
  }
  return found;
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path());
    folders.push_back(program.parent_path() / "../../lib/assay");
  }
  if (const char* const listed = std::getenv("LD_LIBRARY_PATH"); listed != nullptr) {
    for (const std::string& folder : std::vector<std::string>(absl::StrSplit(listed, ':'))) {
      if (folder.starts_with('/')) {
        folders.emplace_back(folder);
      }
    }
  }
  for (const fs::path& toolkit : toolkits()) {
    for (const char* const folder : kLibraryFolders) {
      folders.push_back(toolkit / folder);
    }
  }
  folders.insert(folders.end(), kSystemFolders.begin(), kSystemFolders.end());
  return folders;
}

// The folder with the headers of the toolkit that `root` is, and what it bundles.
std::vector<std::string> include_folders_of(const fs::path& root) {
  for (const char* const name : kIncludeFolders) {
    std::error_code error;
    const fs::path folder = fs::canonical(root / name, error);
    if (error || !is_there(folder / "cuda_fp16.h")) {
      continue;
    }
    std::vector<std::string> folders = {folder.string()};
    if (is_there(folder / "cccl")) {
      folders.push_back((folder / "cccl").string());
    }
    return folders;
  }
  return {};
}

// The toolkit that the library belongs to, else any.
std::vector<std::string> find_include_folders(const fs::path& library) {
  std::vector<fs::path> roots;
  constexpr int kLevels = 4;
  fs::path folder = library.parent_path();
  for (int level = 0; level < kLevels && folder.has_relative_path(); ++level) {
    folder = folder.parent_path();
    roots.push_back(folder);
  }
  std::ranges::copy(toolkits(), std::back_inserter(roots));
  for (const fs::path& root : roots) {
    if (auto folders = include_folders_of(root); !folders.empty()) {
      return folders;
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<ToolkitFiles> find_toolkit_files() {
  const std::vector<fs::path> folders = library_folders();
  for (const char* const library : kLibraries) {
    for (const fs::path& folder : folders) {
      std::error_code error;
      const fs::path file = fs::canonical(folder / library, error);
      if (!error) {
        return ToolkitFiles{.library = file.string(),
                            .include_folders = find_include_folders(file)};
      }
    }
  }
  return absl::FailedPreconditionError(
      "source needs NVRTC: no libnvrtc.so.13 or libnvrtc.so.12; install the CUDA toolkit, or put "
      "the library beside assay-runner");
}

}  // namespace assay::profiler
