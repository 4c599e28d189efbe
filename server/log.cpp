#include "server/log.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include <unistd.h>

namespace assay::server {

void log_line(std::string_view event,
              const std::vector<std::pair<std::string_view, std::string>>& fields) {
  std::string line(event);
  for (const auto& [name, value] : fields) {
    const bool plain = !value.empty() && value.find_first_of(" \"\\\n\t=") == std::string::npos;
    absl::StrAppend(&line, " ", std::string(name), "=");
    line += plain ? value : absl::StrCat("\"", absl::CEscape(value), "\"");
  }
  line += '\n';
  // One write, so that lines of threads do not mix; a log that cannot be written stops nothing.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace assay::server
