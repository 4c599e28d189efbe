#include "client/recorded_formats.h"
#include "client/recorded_values.h"
#include "proto/status.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <array>
#include <cmath>

namespace assay::client {
namespace {

constexpr double kSecond_ns = 1e9;
// Where the time of a state is, the first that is there.
constexpr std::array<const char*, 2> kTimes = {"nv/cold/time/gpu/mean",
                                               "nv/cpu_only/time/cpu/mean"};

std::string text_of(const OrderedJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// A list that may be null or missing.
const OrderedJson& list_in(const OrderedJson& object, const char* name) {
  static const OrderedJson none = OrderedJson::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : none;
}

std::optional<double> value_of(const OrderedJson& data) {
  const auto found = data.find("value");
  double value = 0;
  if (found == data.end()) {
    return std::nullopt;
  }
  if (!found->is_string()) {
    return number_of(*found);
  }
  const bool is_number = absl::SimpleAtod(found->get<std::string>(), &value);
  return is_number && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

class NvbenchReader {
 public:
  explicit NvbenchReader(RecordedFile& file) : file_(file) {
    file_.recording.add_parameters("device");
  }

  absl::Status read(const OrderedJson& benchmark) {
    if (!benchmark.is_object() || text_of(benchmark, "name").empty()) {
      return absl::InvalidArgumentError("name: expected a text");
    }
    std::size_t num_read = 0;
    for (const OrderedJson& state : list_in(benchmark, "states")) {
      v1::RecordedRow& row = file_.rows.emplace_back();
      row.set_name(text_of(benchmark, "name"));
      if (const absl::Status status = read_state(state, row); !status.ok()) {
        return proto::annotate(status, absl::StrCat("states[", num_read, "]"));
      }
      ++num_read;
    }
    return absl::OkStatus();
  }

  void finish() {
    for (v1::RecordedRow& row : file_.rows) {
      while (row.values_size() < file_.recording.parameters_size()) {
        row.add_values("");
      }
    }
    if (num_absent_ > 0) {
      file_.recording.add_notes(
          absl::StrCat(num_absent_, " figures are no finite numbers: read as absent"));
    }
  }

 private:
  absl::Status read_state(const OrderedJson& state, v1::RecordedRow& row) {
    if (!state.is_object()) {
      return absl::InvalidArgumentError("expected an object");
    }
    const auto device = state.find("device");
    if (device == state.end() || !device->is_number_integer()) {
      return absl::InvalidArgumentError("device: expected an integer");
    }
    row.add_values(device->dump());
    for (const OrderedJson& axis : list_in(state, "axis_values")) {
      if (!axis.is_object() || text_of(axis, "name").empty() || !axis.contains("value")) {
        return absl::InvalidArgumentError("axis_values: expected objects of name and value");
      }
      ASSAY_ASSIGN_OR_RETURN(const std::string value, recorded_text(axis["value"]));
      set_value(row, text_of(axis, "name"), value);
    }
    if (state.value("is_skipped", OrderedJson()) == true) {
      set_failure(row, text_of(state, "skip_reason"), v1::CONSTRAINTS);
    }
    read_summaries(state, row);
    return absl::OkStatus();
  }

  // An axis that no state before had becomes a parameter.
  void set_value(v1::RecordedRow& row, const std::string& name, const std::string& value) {
    int place = 1;
    while (place < file_.recording.parameters_size() && file_.recording.parameters(place) != name) {
      ++place;
    }
    if (place == file_.recording.parameters_size()) {
      file_.recording.add_parameters(name);
    }
    while (row.values_size() <= place) {
      row.add_values("");
    }
    row.set_values(place, value);
  }

  void read_summaries(const OrderedJson& state, v1::RecordedRow& row) {
    for (const OrderedJson& summary : list_in(state, "summaries")) {
      for (const OrderedJson& data : list_in(summary, "data")) {
        if (text_of(data, "name") != "value") {
          continue;
        }
        if (const std::optional<double> value = value_of(data)) {
          add_metric(row, text_of(summary, "tag"), *value);
        } else {
          ++num_absent_;
        }
      }
    }
    for (const char* tag : kTimes) {
      const std::optional<double> seconds = find_metric(row, tag);
      if (seconds.has_value() && !row.has_time()) {
        row.set_has_time(true);
        row.set_time_ns(to_ns(*seconds, kSecond_ns));
      }
    }
  }

  RecordedFile& file_;
  std::size_t num_absent_ = 0;
};

}  // namespace

// Names of devices are kept as "0: Name; 1: Name".
absl::Status read_nvbench(std::string_view text, const JsonOutline& outline, RecordedFile& file) {
  std::vector<std::string> devices;
  for (const OrderedJson& device : list_in(outline.members, "devices")) {
    if (!device.is_object() || !device.contains("id") || text_of(device, "name").empty()) {
      return absl::InvalidArgumentError("devices: expected objects of id and name");
    }
    devices.push_back(absl::StrCat(device["id"].dump(), ": ", text_of(device, "name")));
  }
  file.recording.set_device_name(absl::StrJoin(devices, "; "));
  file.recording.set_objective(kTimes[0]);
  if (devices.size() > 1) {
    file.recording.add_notes(
        "measured on several devices: the parameter `device` tells their rows apart");
  }
  NvbenchReader reader(file);
  std::size_t num_read = 0;
  const auto visit = [&](const std::string& /*key*/, const OrderedJson& entry) {
    const absl::Status status = reader.read(entry);
    return status.ok() ? (++num_read, status)
                       : proto::annotate(status, absl::StrCat("benchmarks[", num_read, "]"));
  };
  ASSAY_RETURN_IF_ERROR(read_entries(text, visit).status());
  reader.finish();
  return absl::OkStatus();
}

}  // namespace assay::client
