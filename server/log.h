// The daemon's log: one line an event on the standard error, `event key=value ...`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::server {

// Writes the line whole; values with spaces or quotes are quoted. May be called from any thread.
void log_line(std::string_view event,
              const std::vector<std::pair<std::string_view, std::string>>& fields);

}  // namespace assay::server
