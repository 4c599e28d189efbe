#include "client/new_file.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::client {
namespace {

constexpr mode_t kForAll = 0644;
constexpr mode_t kForOwner = 0600;

absl::Status is_there() {
  return absl::AlreadyExistsError("is there already; name another file or add --overwrite");
}

absl::Status file_error(int error) {
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(std::strerror(error))
                                             : absl::UnavailableError(std::strerror(error));
}

}  // namespace

absl::StatusOr<std::unique_ptr<NewFile>> NewFile::create(const std::string& path,
                                                         bool overwrites,
                                                         Readers readers) {
  struct stat found = {};
  if (!overwrites && lstat(path.c_str(), &found) == 0) {
    return is_there();
  }
  std::string partial = absl::StrCat(path, ".partial-", getpid());
  const mode_t mode = readers == Readers::kAll ? kForAll : kForOwner;
  const int descriptor = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (descriptor < 0) {
    return file_error(errno);
  }
  return std::unique_ptr<NewFile>(new NewFile(path, std::move(partial), descriptor, overwrites));
}

NewFile::~NewFile() {
  close(descriptor_);
  if (!is_finished_) {
    unlink(partial_.c_str());
  }
}

absl::Status NewFile::write(const std::string& bytes) const {
  for (std::size_t begin = 0; begin < bytes.size();) {
    const ssize_t num_written = ::write(descriptor_, bytes.data() + begin, bytes.size() - begin);
    if (num_written < 0 && errno != EINTR) {
      return file_error(errno);
    }
    begin += num_written > 0 ? static_cast<std::size_t>(num_written) : 0;
  }
  return absl::OkStatus();
}

absl::Status NewFile::finish() {
  if (fsync(descriptor_) != 0 && errno != EINVAL) {
    return file_error(errno);
  }
  // A link fails where a rename would write over another file.
  const bool is_named = overwrites_ ? rename(partial_.c_str(), path_.c_str()) == 0
                                    : link(partial_.c_str(), path_.c_str()) == 0;
  if (!is_named) {
    return errno == EEXIST ? is_there() : file_error(errno);
  }
  if (!overwrites_) {
    unlink(partial_.c_str());
  }
  is_finished_ = true;
  return absl::OkStatus();
}

}  // namespace assay::client
