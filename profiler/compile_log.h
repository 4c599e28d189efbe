// What the compiler said, as a user may see it: no path of this host, and no line of a file that is
// not the user's own. The sandbox is what keeps such files from the compiler; this is the second
// defence, and what keeps messages short.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace assay::profiler {

// `own_files` are the names that the user gave. Headers under `include_folders` keep the message
// and their name below the folder, without their lines; messages about any other file are left out.
// Cut at kMostLogBytes, which is then said.
std::string scrub_log(std::string_view log,
                      const std::set<std::string>& own_files,
                      std::span<const std::string> include_folders);

}  // namespace assay::profiler
