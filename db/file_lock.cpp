#include "db/file_lock.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace assay::db {
namespace {

absl::Status errno_status(int code, const std::string& call) {
  const std::string message = absl::StrCat(call, ": ", std::strerror(code));
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return absl::NotFoundError(message);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(message);
    default:
      return absl::InternalError(message);
  }
}

// The holder writes its pid just after it took the lock, so the text can be empty.
absl::Status in_use(int descriptor) {
  char text[32] = {};
  const ssize_t length = ::pread(descriptor, text, sizeof(text) - 1, 0);
  const std::string pid(text, length > 0 ? std::strcspn(text, "\n") : 0);
  return absl::FailedPreconditionError(pid.empty()
                                           ? std::string("database in use by another process")
                                           : absl::StrCat("database in use by pid ", pid));
}

}  // namespace

absl::StatusOr<FileLock> FileLock::acquire(const std::string& database_path) {
  const std::string path = database_path + ".lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    return errno_status(errno, absl::StrCat("open `", path, "`"));
  }
  FileLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    return code == EWOULDBLOCK ? in_use(descriptor)
                               : errno_status(code, absl::StrCat("flock `", path, "`"));
  }
  const std::string pid = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return errno_status(errno, absl::StrCat("write `", path, "`"));
  }
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace assay::db
