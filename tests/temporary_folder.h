// A folder of a test's own, gone with the object.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace assay {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }

  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace assay
