#include "server/config.h"

#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/util/json_util.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

namespace assay::server {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::int64_t kMaxStartTimeoutNs = 3'600'000'000'000;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
  });
}

bool is_backend(std::string_view text) {
  if (text == "cpu") {
    return true;
  }
  constexpr std::string_view kCuda = "cuda:";
  const std::string_view number = text.substr(std::min(text.size(), kCuda.size()));
  return text.starts_with(kCuda) && !number.empty() && number.size() <= 3 &&
         std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
}

absl::Status check_device(const v1::DeviceConfig& device, const std::string& path) {
  const auto refuse = [&path](std::string_view field, std::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".", std::string(field), ": ", std::string(why)));
  };
  if (!is_name(device.name())) {
    return refuse("name", "must be 1 to 64 letters, digits, '_', '-' or '.'");
  }
  if (!is_backend(device.backend())) {
    return refuse("backend", "must be cpu or cuda:N");
  }
  for (int i = 0; i < device.launch_prefix_size(); ++i) {
    if (device.launch_prefix(i).empty()) {
      return refuse(absl::StrCat("launch_prefix[", i, "]"), "must not be empty");
    }
  }
  if (device.start_timeout_ns() < 0 || device.start_timeout_ns() > kMaxStartTimeoutNs) {
    return refuse("start_timeout_ns", "must be in [0, 3,600,000,000,000]");
  }
  return absl::OkStatus();
}

void add_default_devices(v1::DaemonConfig& config) {
  v1::DeviceConfig& cpu = *config.add_devices();
  cpu.set_name("cpu");
  cpu.set_backend("cpu");
  v1::DeviceConfig& cuda = *config.add_devices();
  cuda.set_name("cuda");
  cuda.set_backend("cuda:0");
}

}  // namespace

absl::StatusOr<v1::DaemonConfig> parse_config(std::string_view text) {
  v1::DaemonConfig config;
  const auto parsed = google::protobuf::util::JsonStringToMessage(std::string(text), &config);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(parsed.ToString());
  }
  if (config.devices().empty()) {
    add_default_devices(config);
  }
  std::map<std::string, int> seen;
  for (int i = 0; i < config.devices_size(); ++i) {
    v1::DeviceConfig& device = *config.mutable_devices(i);
    const std::string path = absl::StrCat("devices[", i, "]");
    ASSAY_RETURN_IF_ERROR(check_device(device, path));
    const auto [first, inserted] = seen.emplace(device.name(), i);
    if (!inserted) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ".name: `", device.name(), "` is the name of devices[", first->second, "]"));
    }
    if (device.start_timeout_ns() == 0) {
      device.set_start_timeout_ns(kDefaultStartTimeoutNs);
    }
  }
  return config;
}

absl::StatusOr<v1::DaemonConfig> read_config(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  }
  auto config = parse_config(text.str());
  if (!config.ok()) {
    return proto::annotate(config.status(), path);
  }
  return config;
}

std::vector<std::string> runner_arguments(const v1::DeviceConfig& device,
                                          const std::string& default_runner,
                                          const std::vector<std::string>& flags) {
  std::vector<std::string> arguments(device.launch_prefix().begin(), device.launch_prefix().end());
  arguments.push_back(device.runner().empty() ? default_runner : device.runner());
  arguments.emplace_back("--device");
  arguments.push_back(device.backend());
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

absl::StatusOr<std::string> find_runner(const std::string& program_folder) {
  const std::array<std::string, 3> places = {program_folder + "/../libexec/assay/assay-runner",
                                             program_folder + "/assay-runner",
                                             program_folder + "/../profiler/assay-runner"};
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) {
      return place;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("no runner at ", absl::StrJoin(places, ", "), ": name one with --runner"));
}

}  // namespace assay::server
