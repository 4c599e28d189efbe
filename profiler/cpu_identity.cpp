#include "profiler/cpu_identity.h"

#include "profiler/digest.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <fstream>
#include <span>
#include <unistd.h>

namespace assay::profiler {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

std::string machine_name(const std::string& machine_id_file) {
  std::ifstream file(machine_id_file);
  std::string id;
  // A machine that was not set up yet says so in a word.
  if (file >> id && id != "uninitialized") {
    return absl::StrCat("machine ", id);
  }
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? absl::StrCat("host ", name.data())
                                                        : "unknown";
}

std::string cpu_uuid(std::string_view machine, std::string_view model) {
  const std::string text =
      absl::StrCat("assay cpu\n", std::string(machine), "\n", std::string(model), "\n");
  return absl::StrCat("CPU-", digest_bytes(std::as_bytes(std::span(text))).to_hex());
}

}  // namespace assay::profiler
