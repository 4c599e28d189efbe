#include "client/input_file.h"

#include "client/gzip.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace assay::client {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

// A name that was typed wrong is told from a file that cannot be read.
absl::Status file_error(int error) {
  const bool is_wrong_name = error == ENOENT || error == ENOTDIR || error == EISDIR;
  const char* text = std::strerror(error);
  return is_wrong_name ? absl::NotFoundError(text) : absl::UnavailableError(text);
}

}  // namespace

absl::StatusOr<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return file_error(errno);
  }
  std::string text;
  std::array<char, 65'536> buffer{};
  while (const std::size_t num_bytes = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), num_bytes);
    if (text.size() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("larger than ",
                       proto::with_commas(static_cast<std::int64_t>(max_bytes)),
                       " bytes, the limit"));
    }
  }
  if (std::ferror(file.get()) != 0) {
    return file_error(errno);
  }
  return text;
}

absl::StatusOr<std::string> read_text(const std::string& path, std::size_t max_bytes) {
  absl::StatusOr<std::string> bytes = read_file(path, max_bytes);
  return bytes.ok() && is_gzip(*bytes) ? gunzip(*bytes, max_bytes) : std::move(bytes);
}

absl::Status write_file(const std::string& path, const std::string& text, bool overwrites) {
  const std::unique_ptr<std::FILE, CloseFile> file(
      std::fopen(path.c_str(), overwrites ? "wb" : "wbx"));
  if (file == nullptr && errno == EEXIST) {
    return absl::AlreadyExistsError("is there already; name another file or add --overwrite");
  }
  if (file == nullptr) {
    return file_error(errno);
  }
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    const int error = errno;
    std::remove(path.c_str());
    return file_error(error);
  }
  return absl::OkStatus();
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace assay::client
