#include "client/recorded_formats.h"
#include "client/recorded_values.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"

#include <array>
#include <utility>

namespace assay::client {
namespace {

constexpr double kMillisecond_ns = 1e6;

// What a row's fields of our own names are called there; all are milliseconds.
constexpr std::array<std::pair<const char*, const char*>, 5> kPhases = {
    {{"compile_time", "compilation_ns"},
     {"verification_time", "validation_ns"},
     {"benchmark_time", "benchmark_ns"},
     {"strategy_time", "search_ns"},
     {"framework_time", "framework_ns"}}};

v1::FailureClass failure_of(const std::string& word) {
  return word == "CompilationFailedConfig" ? v1::COMPILE
         : word == "InvalidConfig"         ? v1::CONSTRAINTS
                                           : v1::RUNTIME;
}

absl::Status read_time(const OrderedJson& entry, v1::RecordedRow& row) {
  const auto time = entry.find("time");
  if (time != entry.end() && time->is_string()) {
    row.set_message(time->get<std::string>());
    row.set_failure(failure_of(row.message()));
  } else if (time != entry.end() && number_of(*time).has_value()) {
    row.set_has_time(true);
    row.set_time_ns(to_ns(*number_of(*time), kMillisecond_ns));
  } else if (time != entry.end() && !time->is_null()) {
    return absl::InvalidArgumentError("time: expected milliseconds or the word of a failure");
  }
  const auto times = entry.find("times");
  if (times == entry.end() || times->is_null()) {
    return absl::OkStatus();
  }
  if (!times->is_array()) {
    return absl::InvalidArgumentError("times: expected a list");
  }
  for (const OrderedJson& sample : *times) {
    if (const std::optional<double> value = number_of(sample)) {
      row.add_samples_ns(to_ns(*value, kMillisecond_ns));
    } else if (!sample.is_null()) {
      return absl::InvalidArgumentError("times: expected numbers");
    }
  }
  return absl::OkStatus();
}

// Numbers that are neither a parameter nor the time itself.
void read_metrics(const OrderedJson& entry, const v1::Recording& recording, v1::RecordedRow& row) {
  for (const auto& [name, value] : entry.items()) {
    bool is_known = name == "time";
    for (const std::string& parameter : recording.parameters()) {
      is_known = is_known || parameter == name;
    }
    const std::optional<double> number = number_of(value);
    if (is_known || !number.has_value()) {
      continue;
    }
    std::string phase;
    for (const auto& [theirs, ours] : kPhases) {
      phase = name == theirs ? ours : phase;
    }
    add_metric(row,
               phase.empty() ? name : phase,
               phase.empty() ? *number : to_ns(*number, kMillisecond_ns));
  }
}

absl::Status read_row(const OrderedJson& entry,
                      const v1::Recording& recording,
                      v1::RecordedRow& row) {
  if (!entry.is_object()) {
    return absl::InvalidArgumentError("expected an object");
  }
  for (const std::string& parameter : recording.parameters()) {
    const auto value = entry.find(parameter);
    const absl::StatusOr<std::string> text =
        value == entry.end() ? absl::InvalidArgumentError("missing") : recorded_text(*value);
    if (!text.ok()) {
      return proto::annotate(text.status(), parameter);
    }
    row.add_values(*text);
  }
  ASSAY_RETURN_IF_ERROR(read_time(entry, row));
  read_metrics(entry, recording, row);
  return absl::OkStatus();
}

std::string text_member(const OrderedJson& members, const char* name) {
  const auto found = members.find(name);
  return found != members.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

absl::Status read_cache(std::string_view text, const JsonOutline& outline, RecordedFile& file) {
  v1::Recording& recording = file.recording;
  const OrderedJson& keys = outline.members["tune_params_keys"];
  if (!keys.is_array() || keys.empty()) {
    return absl::InvalidArgumentError("tune_params_keys: expected a list of names");
  }
  for (const OrderedJson& key : keys) {
    if (!key.is_string()) {
      return absl::InvalidArgumentError("tune_params_keys: expected a list of names");
    }
    recording.add_parameters(key.get<std::string>());
  }
  recording.set_name(text_member(outline.members, "kernel_name"));
  recording.set_device_name(text_member(outline.members, "device_name"));
  const std::string objective = text_member(outline.members, "objective");
  recording.set_objective(objective.empty() ? "time" : objective);
  file.rows.reserve(outline.num_entries);
  const auto visit = [&file](const std::string& key, const OrderedJson& entry) {
    const absl::Status status = read_row(entry, file.recording, file.rows.emplace_back());
    return status.ok() ? status : proto::annotate(status, absl::StrCat("cache[\"", key, "\"]"));
  };
  return read_entries(text, visit).status();
}

}  // namespace assay::client
