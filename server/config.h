// The daemon's configuration file and the places of what is installed beside it.
#pragma once

#include "proto/config.pb.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::server {

inline constexpr std::int64_t kDefaultStartTimeoutNs = 30'000'000'000;

// Parses proto JSON. Errors name the field by path: `devices[1].name: ...`; unknown fields and
// names used twice are errors. `text` may be "{}": then the devices are cpu and cuda.
absl::StatusOr<v1::DaemonConfig> parse_config(std::string_view text);

// As parse_config, of a file; the error names it.
absl::StatusOr<v1::DaemonConfig> read_config(const std::string& path);

// The arguments that start the runner of a device, without the nonce. `default_runner` is used
// where the device names none; `flags` come last.
std::vector<std::string> runner_arguments(const v1::DeviceConfig& device,
                                          const std::string& default_runner,
                                          const std::vector<std::string>& flags);

// The runner installed beside a program in `program_folder`, or in the same build.
// NOT_FOUND lists the places.
absl::StatusOr<std::string> find_runner(const std::string& program_folder);

}  // namespace assay::server
