// A file that has its name only once it is whole.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <memory>
#include <string>

namespace assay::client {

// Who may read it, of those whom the umask lets.
enum class Readers { kAll, kOwner };

class NewFile {
 public:
  // ALREADY_EXISTS unless `overwrites`; NOT_FOUND or UNAVAILABLE: it cannot be written there.
  static absl::StatusOr<std::unique_ptr<NewFile>> create(const std::string& path,
                                                         bool overwrites,
                                                         Readers readers = Readers::kAll);

  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  // Removes what was not finished.
  ~NewFile();

  int descriptor() const { return descriptor_; }

  // UNAVAILABLE: what the system says, a full disk for instance.
  absl::Status write(const std::string& bytes) const;
  absl::Status finish();

 private:
  NewFile(std::string path, std::string partial, int descriptor, bool overwrites)
      : path_(std::move(path)),
        partial_(std::move(partial)),
        descriptor_(descriptor),
        overwrites_(overwrites) {}

  const std::string path_;
  const std::string partial_;
  const int descriptor_;
  const bool overwrites_;
  bool is_finished_ = false;
};

}  // namespace assay::client
