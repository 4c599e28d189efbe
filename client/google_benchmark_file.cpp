#include "client/google_benchmark_names.h"
#include "client/recorded_formats.h"
#include "client/recorded_values.h"
#include "proto/status.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::client {
namespace {

// What we write where the format has no place: the time that a file states beside its samples,
// that there is no processor time, and which parts of a name are parameters.
constexpr char kStated[] = "stated";
constexpr char kCpuTimeRepeats[] = "cpu_time_repeats_real_time";
constexpr char kParameters[] = "parameters";
constexpr double kMaxCount = 9e18;  // what 64 bits hold

std::string text_of(const OrderedJson& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_in(const OrderedJson& entry, const char* name) {
  const auto found = entry.find(name);
  return found == entry.end() ? std::nullopt : number_of(*found);
}

bool is_flag_set(const OrderedJson& entry, const char* name) {
  const auto found = entry.find(name);
  return found != entry.end() && found->is_boolean() && found->get<bool>();
}

std::set<std::string> texts_in(const OrderedJson& entry, const char* name) {
  std::set<std::string> texts;
  if (const auto found = entry.find(name); found != entry.end() && found->is_array()) {
    for (const OrderedJson& text : *found) {
      if (text.is_string()) {
        texts.insert(text.get<std::string>());
      }
    }
  }
  return texts;
}

class GoogleBenchmarkReader {
 public:
  GoogleBenchmarkReader(RecordedFile& file, bool cpu_time_repeats)
      : file_(file), cpu_time_repeats_(cpu_time_repeats) {}

  absl::Status read(const OrderedJson& entry) {
    if (!entry.is_object() || text_of(entry, "name").empty()) {
      return absl::InvalidArgumentError("name: expected a text");
    }
    const std::string name = text_of(entry, "name");
    const std::string run_name =
        text_of(entry, "run_name").empty() ? name : text_of(entry, "run_name");
    const std::string aggregate = text_of(entry, "aggregate_name");
    if (aggregate == "BigO" || aggregate == "RMS" || absl::EndsWith(name, "_BigO") ||
        absl::EndsWith(name, "_RMS")) {
      ++num_complexities_;
      return absl::OkStatus();
    }
    if (text_of(entry, "run_type") == "aggregate") {
      return read_aggregate(entry, aggregate, row_of(run_name));
    }
    return read_iteration(entry, row_of(run_name));
  }

  void finish() {
    for (v1::RecordedRow& row : file_.rows) {
      num_ignored_ += !row.samples_ns().empty() && !is_stated_.contains(row.name()) &&
                              num_aggregates_[row.name()] > 0
                          ? num_aggregates_[row.name()]
                          : 0;
      if (!row.samples_ns().empty() && !is_stated_.contains(row.name())) {
        row.clear_has_time();
        row.clear_time_ns();
      }
    }
    if (num_complexities_ > 0) {
      file_.recording.add_notes(
          absl::StrCat(num_complexities_, " entries of complexity (BigO, RMS) left out"));
    }
    if (num_ignored_ > 0) {
      file_.recording.add_notes(absl::StrCat(
          num_ignored_, " aggregates left out, as the repetitions that they are of are there"));
    }
  }

 private:
  v1::RecordedRow& row_of(const std::string& run_name) {
    const auto [place, is_new] = places_.emplace(run_name, file_.rows.size());
    if (is_new) {
      file_.rows.emplace_back().set_name(run_name);
    }
    return file_.rows[place->second];
  }

  // nullopt: there is no such time.
  static absl::StatusOr<std::optional<double>> time_of(const OrderedJson& entry, const char* name) {
    const std::optional<double> value = number_in(entry, name);
    if (!value.has_value()) {
      return std::optional<double>();
    }
    const std::string unit = text_of(entry, "time_unit");
    const absl::StatusOr<double> in_ns = unit_ns(unit.empty() ? "ns" : unit);
    if (!in_ns.ok()) {
      return proto::annotate(in_ns.status(), "time_unit");
    }
    return std::optional(to_ns(*value, *in_ns));
  }

  // Of a benchmark without repetitions the median stands for the time, else what there is.
  absl::Status read_aggregate(const OrderedJson& entry,
                              const std::string& aggregate,
                              v1::RecordedRow& row) {
    const bool is_spread = aggregate == "stddev" || aggregate == "cv" ||
                           text_of(entry, "aggregate_unit") == "percentage";
    num_aggregates_[row.name()] += 1;
    ASSAY_ASSIGN_OR_RETURN(const std::optional<double> time_ns, time_of(entry, "real_time"));
    if (is_spread || !time_ns.has_value() || is_stated_.contains(row.name())) {
      return absl::OkStatus();
    }
    if (aggregate == kStated) {
      is_stated_.insert(row.name());
    }
    if (!row.has_time() || aggregate == "median" || aggregate == kStated) {
      row.set_has_time(true);
      row.set_time_ns(*time_ns);
    }
    return absl::OkStatus();
  }

  absl::Status read_iteration(const OrderedJson& entry, v1::RecordedRow& row) {
    if (is_flag_set(entry, "error_occurred")) {
      set_failure(row, text_of(entry, "error_message"), v1::RUNTIME);
    } else {
      ASSAY_ASSIGN_OR_RETURN(const std::optional<double> time_ns, time_of(entry, "real_time"));
      if (time_ns.has_value()) {
        row.add_samples_ns(*time_ns);
      }
      ASSAY_ASSIGN_OR_RETURN(const std::optional<double> cpu_ns, time_of(entry, "cpu_time"));
      if (cpu_ns.has_value() && !cpu_time_repeats_) {
        add_metric(row, "cpu_time_ns", *cpu_ns);
      }
    }
    read_counters(entry, row);
    return absl::OkStatus();
  }

  static void read_counters(const OrderedJson& entry, v1::RecordedRow& row) {
    static const std::set<std::string, std::less<>> fields = {"real_time",
                                                              "cpu_time",
                                                              "family_index",
                                                              "per_family_instance_index",
                                                              "repetitions",
                                                              "repetition_index",
                                                              "threads"};
    for (const auto& [name, value] : entry.items()) {
      const std::optional<double> number = number_of(value);
      if (number.has_value() && !fields.contains(name)) {
        add_metric(row, name, *number);
      }
    }
  }

  RecordedFile& file_;
  bool cpu_time_repeats_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, std::size_t> num_aggregates_;
  std::set<std::string> is_stated_;
  std::size_t num_complexities_ = 0;
  std::size_t num_ignored_ = 0;
};

// Appends the entries of one row: a repetition for each sample, or one that has failed.
class GoogleBenchmarkWriter {
 public:
  GoogleBenchmarkWriter(const v1::Recording& recording, std::string& text)
      : recording_(recording), text_(text) {}

  void write(const v1::RecordedRow& row) {
    const std::string name = google_benchmark_name(recording_, row);
    const bool failed = row.failure() != v1::FAILURE_CLASS_UNSPECIFIED;
    const bool has_samples = !failed && !row.samples_ns().empty();
    if (has_samples) {
      for (int i = 0; i < row.samples_ns_size(); ++i) {
        OrderedJson entry = head_of(name, row, i);
        add_times(entry, row.samples_ns(i), nth_metric(row, "cpu_time_ns", i));
        add_counters(entry, row, i);
        append(entry);
      }
    } else if (failed || !row.has_time()) {
      OrderedJson entry = head_of(name, row, 0);
      entry["error_occurred"] = true;
      entry["error_message"] = failure_text(row);
      add_counters(entry, row, 0);
      append(entry);
    }
    if (!failed && row.has_time()) {
      OrderedJson entry = {{"name", name + "_" + kStated},
                           {"run_name", name},
                           {"run_type", "aggregate"},
                           {"aggregate_name", kStated},
                           {"threads", 1},
                           {"iterations", 1}};
      add_times(entry, row.time_ns(), std::nullopt);
      append(entry);
    }
  }

 private:
  static OrderedJson head_of(const std::string& name, const v1::RecordedRow& row, int repetition) {
    return {{"name", name},
            {"run_name", name},
            {"run_type", "iteration"},
            {"repetitions", std::max(row.samples_ns_size(), 1)},
            {"repetition_index", repetition},
            {"threads", 1}};
  }

  static void add_times(OrderedJson& entry, double time_ns, std::optional<double> cpu_ns) {
    entry["real_time"] = time_ns;
    entry["cpu_time"] = cpu_ns.value_or(time_ns);
    entry["time_unit"] = "ns";
  }

  // A name that stands once for each repetition has its values in their order.
  static std::optional<double> nth_metric(const v1::RecordedRow& row,
                                          const std::string& name,
                                          int place) {
    for (const v1::Metric& metric : row.metrics()) {
      if (metric.name() == name && place-- == 0) {
        return metric.value();
      }
    }
    return std::nullopt;
  }

  static void add_counters(OrderedJson& entry, const v1::RecordedRow& row, int repetition) {
    for (const v1::Metric& metric : row.metrics()) {
      if (metric.name() == "cpu_time_ns" || entry.contains(metric.name())) {
        continue;
      }
      if (const std::optional<double> value = nth_metric(row, metric.name(), repetition)) {
        // A count of calls is an integer to those who read it.
        if (metric.name() == "iterations" && std::abs(*value) < kMaxCount) {
          entry["iterations"] = static_cast<std::int64_t>(*value);
        } else {
          entry[metric.name()] = *value;
        }
      }
    }
  }

  void append(const OrderedJson& entry) {
    absl::StrAppend(&text_, is_first_ ? "\n" : ",\n", dump_line(entry));
    is_first_ = false;
  }

  const v1::Recording& recording_;
  std::string& text_;
  bool is_first_ = true;
};

bool has_cpu_times(const RecordedFile& file) {
  for (const v1::RecordedRow& row : file.rows) {
    if (find_metric(row, "cpu_time_ns").has_value()) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::Status read_google_benchmark(std::string_view text,
                                   const JsonOutline& outline,
                                   RecordedFile& file) {
  const OrderedJson context = outline.members.value("context", OrderedJson::object());
  file.recording.set_objective("real_time");
  file.recording.set_name(context.is_object() ? text_of(context, "kernel_name") : "");
  file.recording.set_device_name(context.is_object() ? text_of(context, "device_name") : "");
  GoogleBenchmarkReader reader(file, context.is_object() && is_flag_set(context, kCpuTimeRepeats));
  std::size_t num_read = 0;
  const auto visit = [&](const std::string& /*key*/, const OrderedJson& entry) {
    const absl::Status status = reader.read(entry);
    return status.ok() ? (++num_read, status)
                       : proto::annotate(status, absl::StrCat("benchmarks[", num_read, "]"));
  };
  ASSAY_RETURN_IF_ERROR(read_entries(text, visit).status());
  reader.finish();
  split_google_benchmark_names(
      file, context.is_object() ? texts_in(context, kParameters) : std::set<std::string>());
  return absl::OkStatus();
}

std::string write_google_benchmark(const RecordedFile& file) {
  OrderedJson context = OrderedJson::object();
  if (!file.recording.device_name().empty()) {
    context["device_name"] = file.recording.device_name();
  }
  if (!file.recording.name().empty()) {
    context["kernel_name"] = file.recording.name();
  }
  if (!has_cpu_times(file)) {
    context[kCpuTimeRepeats] = true;
  }
  if (!file.recording.parameters().empty()) {
    context[kParameters] = std::vector<std::string>(file.recording.parameters().begin(),
                                                    file.recording.parameters().end());
  }
  std::string text = absl::StrCat("{\"context\":", dump_line(context), ",\n\"benchmarks\":[");
  GoogleBenchmarkWriter writer(file.recording, text);
  for (const v1::RecordedRow& row : file.rows) {
    writer.write(row);
  }
  return absl::StrCat(text, "\n]}\n");
}

}  // namespace assay::client
