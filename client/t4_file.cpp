#include "client/recorded_formats.h"
#include "client/recorded_values.h"
#include "proto/status.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include <array>
#include <utility>

namespace assay::client {
namespace {

constexpr std::array<std::pair<const char*, v1::FailureClass>, 6> kInvalidities = {
    {{"correct", v1::FAILURE_CLASS_UNSPECIFIED},
     {"compile", v1::COMPILE},
     {"runtime", v1::RUNTIME},
     {"timeout", v1::TIMEOUT},
     {"correctness", v1::WRONG_OUTPUT},
     {"constraints", v1::CONSTRAINTS}}};

// Times beside the runtimes, and our names of them.
constexpr std::array<std::pair<const char*, const char*>, 6> kPhases = {
    {{"compilation", "compilation_ns"},
     {"compilation_time", "compilation_ns"},
     {"framework", "framework_ns"},
     {"search_algorithm", "search_ns"},
     {"validation", "validation_ns"},
     {"benchmark", "benchmark_ns"}}};

// Measurements with a meaning of ours, for what the format has no place for.
constexpr char kNameOfRow[] = "assay_name";
constexpr char kFailure[] = "assay_failure";

absl::StatusOr<v1::FailureClass> failure_of(const OrderedJson& entry) {
  const auto found = entry.find("invalidity");
  if (found != entry.end() && found->is_string()) {
    for (const auto& [word, failure] : kInvalidities) {
      if (*found == word) {
        return failure;
      }
    }
  }
  return absl::InvalidArgumentError(
      "invalidity: expected one of compile, constraints, correct, correctness, runtime, timeout");
}

const char* invalidity_of(v1::FailureClass failure) {
  for (const auto& [word, known] : kInvalidities) {
    if (failure == known) {
      return word;
    }
  }
  return failure == v1::BIT_DRIFT ? "correctness" : "runtime";
}

class T4Reader {
 public:
  T4Reader(RecordedFile& file, double unit_ns) : file_(file), unit_ns_(unit_ns) {}

  absl::Status read(const OrderedJson& entry) {
    v1::RecordedRow& row = file_.rows.emplace_back();
    if (!entry.is_object()) {
      return absl::InvalidArgumentError("expected an object");
    }
    ASSAY_ASSIGN_OR_RETURN(const v1::FailureClass failure, failure_of(entry));
    row.set_failure(failure);
    ASSAY_RETURN_IF_ERROR(read_values(entry, row));
    ASSAY_RETURN_IF_ERROR(read_times(entry, row));
    return read_measurements(entry, row);
  }

 private:
  // The first row says which parameters there are.
  absl::Status read_values(const OrderedJson& entry, v1::RecordedRow& row) {
    const auto found = entry.find("configuration");
    if (found == entry.end() || !found->is_object()) {
      return absl::InvalidArgumentError("configuration: expected an object");
    }
    if (file_.rows.size() == 1) {
      for (const auto& [name, value] : found->items()) {
        file_.recording.add_parameters(name);
      }
    }
    for (const std::string& name : file_.recording.parameters()) {
      const auto value = found->find(name);
      const absl::StatusOr<std::string> text =
          value == found->end() ? absl::InvalidArgumentError("missing") : recorded_text(*value);
      if (!text.ok()) {
        return proto::annotate(text.status(), "configuration." + name);
      }
      row.add_values(*text);
    }
    if (found->size() != static_cast<std::size_t>(row.values_size())) {
      return absl::InvalidArgumentError(
          "configuration: has a parameter that the first row has not");
    }
    return absl::OkStatus();
  }

  absl::Status read_times(const OrderedJson& entry, v1::RecordedRow& row) const {
    const auto times = entry.find("times");
    if (times == entry.end() || !times->is_object()) {
      return absl::InvalidArgumentError("times: expected an object");
    }
    for (const auto& [name, value] : times->items()) {
      for (const auto& [theirs, ours] : kPhases) {
        const std::optional<double> number = number_of(value);
        if (name == theirs && number.has_value()) {
          add_metric(row, ours, to_ns(*number, unit_ns_));
        }
      }
    }
    const auto runtimes = times->find("runtimes");
    if (runtimes == times->end() || runtimes->is_null()) {
      return absl::OkStatus();
    }
    if (!runtimes->is_array()) {
      return absl::InvalidArgumentError("times.runtimes: expected a list");
    }
    for (const OrderedJson& sample : *runtimes) {
      if (const std::optional<double> value = number_of(sample)) {
        row.add_samples_ns(to_ns(*value, unit_ns_));
      } else if (!sample.is_null()) {
        return absl::InvalidArgumentError("times.runtimes: expected numbers");
      }
    }
    return absl::OkStatus();
  }

  absl::Status read_measurements(const OrderedJson& entry, v1::RecordedRow& row) const {
    const auto measurements = entry.find("measurements");
    if (measurements == entry.end() || !measurements->is_array()) {
      return absl::OkStatus();
    }
    for (const OrderedJson& measurement : *measurements) {
      if (!measurement.is_object() || !measurement.contains("name") ||
          !measurement.contains("value") || !measurement["name"].is_string()) {
        return absl::InvalidArgumentError("measurements: expected objects of name and value");
      }
      const auto name = measurement["name"].get<std::string>();
      const OrderedJson& value = measurement["value"];
      if (name == "time") {
        ASSAY_RETURN_IF_ERROR(read_stated_time(measurement, row));
      } else if (name == kNameOfRow && value.is_string()) {
        row.set_name(value.get<std::string>());
      } else if (name == kFailure && value.is_string()) {
        row.clear_message();
        set_failure(row, value.get<std::string>(), row.failure());
      } else if (const std::optional<double> number = number_of(value)) {
        add_metric(row, name, *number);
      }
    }
    return absl::OkStatus();
  }

  // Without a unit of its own it has that of the file.
  absl::Status read_stated_time(const OrderedJson& measurement, v1::RecordedRow& row) const {
    const OrderedJson& value = measurement["value"];
    if (value.is_string()) {
      row.set_message(value.get<std::string>());
      return absl::OkStatus();
    }
    const std::string unit = measurement.value("unit", OrderedJson("")).is_string()
                                 ? measurement.value("unit", std::string())
                                 : "";
    const absl::StatusOr<double> own_ns = unit.empty() ? unit_ns_ : unit_ns(unit);
    if (!own_ns.ok()) {
      return proto::annotate(own_ns.status(), "measurements: time: unit");
    }
    if (const std::optional<double> number = number_of(value)) {
      row.set_has_time(true);
      row.set_time_ns(to_ns(*number, *own_ns));
    }
    return absl::OkStatus();
  }

  RecordedFile& file_;
  double unit_ns_;
};

OrderedJson measurement_of(const std::string& name, OrderedJson value, const char* unit) {
  return {{"name", name}, {"value", std::move(value)}, {"unit", unit}};
}

bool is_phase(const std::string& name) {
  for (const auto& [theirs, ours] : kPhases) {
    if (name == ours) {
      return true;
    }
  }
  return false;
}

OrderedJson entry_of(const v1::Recording& recording, const v1::RecordedRow& row) {
  constexpr double kMillisecond_ns = 1e6;
  OrderedJson configuration = OrderedJson::object();
  for (int i = 0; i < recording.parameters_size(); ++i) {
    configuration[recording.parameters(i)] = json_of(row.values(i));
  }
  OrderedJson times = OrderedJson::object();
  for (const auto& [theirs, ours] : kPhases) {
    const std::optional<double> value = find_metric(row, ours);
    if (value.has_value() && std::string_view(theirs) != "compilation_time") {
      times[theirs] = from_ns(*value, kMillisecond_ns);
    }
  }
  times["runtimes"] = OrderedJson::array();
  for (const double sample_ns : row.samples_ns()) {
    times["runtimes"].push_back(from_ns(sample_ns, kMillisecond_ns));
  }
  OrderedJson measurements = OrderedJson::array();
  if (row.has_time()) {
    measurements.push_back(
        measurement_of("time", from_ns(row.time_ns(), kMillisecond_ns), "milliseconds"));
  }
  for (const v1::Metric& metric : row.metrics()) {
    if (!is_phase(metric.name())) {
      measurements.push_back(measurement_of(metric.name(), metric.value(), ""));
    }
  }
  if (!row.name().empty()) {
    measurements.push_back(measurement_of(kNameOfRow, row.name(), ""));
  }
  OrderedJson objectives = OrderedJson::array();
  for (const auto objective : absl::StrSplit(recording.objective(), ',', absl::SkipEmpty())) {
    objectives.push_back(std::string(objective));
  }
  const bool failed = row.failure() != v1::FAILURE_CLASS_UNSPECIFIED;
  if (failed) {
    measurements.push_back(measurement_of(kFailure, failure_text(row), ""));
  }
  return {{"configuration", std::move(configuration)},
          {"times", std::move(times)},
          {"invalidity", invalidity_of(row.failure())},
          {"correctness", failed ? 0 : 1},
          {"measurements", std::move(measurements)},
          {"objectives", std::move(objectives)}};
}

}  // namespace

absl::Status read_t4(std::string_view text, const JsonOutline& outline, RecordedFile& file) {
  const OrderedJson metadata = outline.members.value("metadata", OrderedJson::object());
  const auto text_of = [&metadata](const char* name) {
    return metadata.is_object() && metadata.contains(name) && metadata[name].is_string()
               ? metadata[name].get<std::string>()
               : std::string();
  };
  const std::string unit = text_of("timeunit");
  const absl::StatusOr<double> timeunit_ns = unit_ns(unit.empty() ? "ms" : unit);
  if (!timeunit_ns.ok()) {
    return proto::annotate(timeunit_ns.status(), "metadata.timeunit");
  }
  if (unit.empty() || unit.starts_with("mili")) {
    file.recording.add_notes(unit.empty()
                                 ? "no metadata.timeunit: times are read as milliseconds"
                                 : "metadata.timeunit: `" + unit + "` is read as milliseconds");
  }
  file.recording.set_name(text_of("kernel_name"));
  file.recording.set_device_name(text_of("device_name"));
  const OrderedJson& objectives = outline.first_entry.is_object()
                                      ? outline.first_entry.value("objectives", OrderedJson())
                                      : OrderedJson();
  std::vector<std::string> names;
  for (const OrderedJson& objective : objectives) {
    if (objective.is_string()) {
      names.push_back(objective.get<std::string>());
    }
  }
  file.recording.set_objective(absl::StrJoin(names, ","));
  file.rows.reserve(outline.num_entries);
  T4Reader reader(file, *timeunit_ns);
  const auto visit = [&](const std::string& /*key*/, const OrderedJson& entry) {
    const absl::Status status = reader.read(entry);
    return status.ok()
               ? status
               : proto::annotate(status, absl::StrCat("results[", file.rows.size() - 1, "]"));
  };
  return read_entries(text, visit).status();
}

std::string write_t4(const RecordedFile& file) {
  OrderedJson metadata = {{"timeunit", "milliseconds"}};
  if (!file.recording.name().empty()) {
    metadata["kernel_name"] = file.recording.name();
  }
  if (!file.recording.device_name().empty()) {
    metadata["device_name"] = file.recording.device_name();
  }
  std::string text = absl::StrCat("{\"metadata\":", dump_line(metadata), ",\n\"results\":[");
  const char* separator = "\n";
  for (const v1::RecordedRow& row : file.rows) {
    absl::StrAppend(&text, separator, dump_line(entry_of(file.recording, row)));
    separator = ",\n";
  }
  return absl::StrCat(text, "\n],\n\"schema_version\":\"1.0.0\"}\n");
}

}  // namespace assay::client
