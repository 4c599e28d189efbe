// Which processor of which machine: what tells the times of one cpu device from those of another.
#pragma once

#include <string>
#include <string_view>

namespace assay::profiler {

// As the system names it.
std::string cpu_model();

// What the file of the system's machine id says, as long as the installation lasts; where there is
// none, the host's name.
std::string machine_name(const std::string& machine_id_file);

// "CPU-" and a digest of both: neither can be read from it.
std::string cpu_uuid(std::string_view machine, std::string_view model);

}  // namespace assay::profiler
