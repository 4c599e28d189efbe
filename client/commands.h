// The command line: parses, calls the daemon, prints, and gives the exit status.
#pragma once

#include "client/console.h"

#include <string>
#include <vector>

namespace assay::client {

// `arguments` without the program's name. Never throws; every error is one line on console.err.
int run(const std::vector<std::string>& arguments, const Console& console);

}  // namespace assay::client
