#include "server/http_files.h"

#include "proto/status.h"
#include "tuning/content_digest.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

constexpr std::int64_t kMaxFileBytes = 64 << 20;
constexpr std::size_t kHashLength = 8;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }

  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }

 private:
  int fd_;
};

std::string type_of(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> types = {
      {"html", "text/html; charset=utf-8"},
      {"js", "text/javascript; charset=utf-8"},
      {"css", "text/css; charset=utf-8"},
      {"svg", "image/svg+xml"},
      {"png", "image/png"},
      {"woff2", "font/woff2"},
      {"json", "application/json"},
      {"map", "application/json"}};
  const auto found = types.find(name.substr(name.rfind('.') + 1));
  return found == types.end() ? "" : found->second;
}

// "index-BX3kd9Qa.js": the name changes with the content.
bool is_hashed(std::string_view name) {
  const std::string_view stem = name.substr(0, name.find('.'));
  const std::size_t length = stem.size();
  if (length <= kHashLength || stem[length - kHashLength - 1] != '-') {
    return false;
  }
  const std::string_view hash = stem.substr(length - kHashLength);
  return std::ranges::all_of(hash, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
}

bool is_name(std::string_view part) {
  return !part.empty() && part.front() != '.' && std::ranges::all_of(part, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  });
}

absl::Status not_found(const std::vector<std::string>& parts) {
  return absl::NotFoundError(absl::StrCat("no file `", parts.back(), "` in the page"));
}

absl::StatusOr<std::string> read_whole(int fd) {
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMaxFileBytes) {
    return absl::NotFoundError("no file of the page");
  }
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t num_read = 0;
  while (num_read < bytes.size()) {
    const ssize_t count = read(fd, &bytes[num_read], bytes.size() - num_read);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return absl::UnavailableError("a file of the page changes while it is read");
    }
    num_read += static_cast<std::size_t>(count);
  }
  return bytes;
}

absl::StatusOr<std::string> read_inside(const std::string& folder,
                                        const std::vector<std::string>& parts) {
  Descriptor place(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (std::size_t i = 0; i < parts.size() && place.get() >= 0; ++i) {
    const int kind = i + 1 < parts.size() ? O_DIRECTORY : O_NONBLOCK;
    place =
        Descriptor(openat(place.get(), parts[i].c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | kind));
  }
  if (place.get() < 0) {
    return not_found(parts);
  }
  return read_whole(place.get());
}

HttpAnswer not_built() {
  HttpAnswer answer;
  answer.status = 404;
  answer.content_type = std::string(kPlainType);
  answer.body =
      "The dashboard is not built. `npm ci && npm run build` in dashboards/ builds it, "
      "`assayd --dashboards FOLDER` names the folder.\n"
      "The API is there all the same: /v1/List, /v1/ListDevices, /metrics, /healthz.\n";
  return answer;
}

}  // namespace

HttpAnswer HttpFiles::answer(const std::string& path, const std::string& known) const {
  if (folder_.empty()) {
    return not_built();
  }
  std::vector<std::string> parts = absl::StrSplit(path.substr(1), '/');
  if (std::ranges::any_of(parts, [](const std::string& part) { return part.starts_with('.'); })) {
    return error_answer(not_found(parts));
  }
  if (parts.back().find('.') == std::string::npos) {
    parts = {"index.html"};
  }
  const std::string& name = parts.back();
  HttpAnswer answer;
  answer.content_type = type_of(name);
  if (answer.content_type.empty() || !std::ranges::all_of(parts, is_name)) {
    return error_answer(not_found(parts));
  }
  absl::StatusOr<std::string> bytes = read_inside(folder_, parts);
  if (!bytes.ok()) {
    return error_answer(bytes.status());
  }
  // Weak, as the bytes on the wire may be compressed.
  const std::string tag = absl::StrCat("W/\"", tuning::content_digest(*bytes), "\"");
  answer.headers = {
      {"ETag", tag},
      {"Vary", "Accept-Encoding"},
      {"Cache-Control", is_hashed(name) ? "public, max-age=31536000, immutable" : "no-cache"}};
  if (known.find(tag) != std::string::npos) {
    answer.status = 304;
    return answer;
  }
  answer.body = *std::move(bytes);
  return answer;
}

}  // namespace assay::server
