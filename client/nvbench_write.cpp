#include "client/recorded_formats.h"
#include "client/recorded_values.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::client {
namespace {

constexpr double kSecond_ns = 1e9;
constexpr double kMaxCount = 9e18;  // what 64 bits hold
constexpr char kMeanTime[] = "nv/cold/time/gpu/mean";

// What readers of the format go by; figures of another tag have no hint.
struct Tag {
  const char* tag;
  const char* name;
  const char* hint;
};

constexpr std::array<Tag, 6> kTags = {{{"nv/cold/sample_size", "Samples", "sample_size"},
                                       {kMeanTime, "GPU Time", "duration"},
                                       {"nv/cold/time/gpu/stdev/relative", "Noise", "percentage"},
                                       {"nv/cold/time/cpu/mean", "CPU Time", "duration"},
                                       {"nv/cold/time/cpu/stdev/relative", "Noise", "percentage"},
                                       {"nv/batch/time/gpu/mean", "Batch GPU", "duration"}}};

// Numbers are text there, so that none loses a digit.
OrderedJson summary_of(const std::string& tag, double value) {
  const auto known =
      std::ranges::find_if(kTags, [&tag](const Tag& candidate) { return tag == candidate.tag; });
  const bool is_count = tag.ends_with("/sample_size") && std::abs(value) < kMaxCount;
  OrderedJson summary = {
      {"tag", tag}, {"name", known == kTags.end() ? tag : known->name}, {"description", ""}};
  if (known != kTags.end()) {
    summary["hint"] = known->hint;
  }
  summary["data"] = OrderedJson::array(
      {{{"name", "value"},
        {"type", is_count ? "int64" : "float64"},
        {"value",
         is_count ? absl::StrCat(static_cast<std::int64_t>(value)) : OrderedJson(value).dump()}}});
  return summary;
}

OrderedJson summaries_of(const v1::RecordedRow& row) {
  OrderedJson summaries = OrderedJson::array();
  for (const v1::Metric& metric : row.metrics()) {
    summaries.push_back(summary_of(metric.name(), metric.value()));
  }
  const bool has_time = find_metric(row, kMeanTime).has_value() ||
                        find_metric(row, "nv/cpu_only/time/cpu/mean").has_value();
  if (has_time) {
    return summaries;
  }
  const auto num = static_cast<double>(row.samples_ns_size());
  if (num > 0) {
    const double mean =
        std::accumulate(row.samples_ns().begin(), row.samples_ns().end(), 0.0) / num;
    double squares = 0;
    for (const double sample : row.samples_ns()) {
      squares += (sample - mean) * (sample - mean);
    }
    summaries.push_back(summary_of("nv/cold/sample_size", num));
    summaries.push_back(summary_of(kMeanTime, from_ns(mean, kSecond_ns)));
    if (num > 1 && mean > 0) {
      summaries.push_back(
          summary_of("nv/cold/time/gpu/stdev/relative", std::sqrt(squares / (num - 1)) / mean));
    }
  } else if (row.has_time()) {
    summaries.push_back(summary_of(kMeanTime, from_ns(row.time_ns(), kSecond_ns)));
  }
  return summaries;
}

// int64 or float64 where every value is one, else string; an axis has one type.
std::string type_of(const std::vector<std::string>& values) {
  bool all_integers = true;
  bool all_numbers = true;
  for (const std::string& value : values) {
    const OrderedJson parsed = json_of(value);
    all_integers = all_integers && parsed.is_number_integer();
    all_numbers = all_numbers && parsed.is_number();
  }
  return all_integers ? "int64" : all_numbers ? "float64" : "string";
}

// The rows of one benchmark and the values of each of its axes.
struct Benchmark {
  std::string name;
  std::vector<const v1::RecordedRow*> rows;
};

class NvbenchWriter {
 public:
  explicit NvbenchWriter(const RecordedFile& file) : recording_(file.recording) {
    const auto& parameters = recording_.parameters();
    device_ = static_cast<int>(std::ranges::find(parameters, "device") - parameters.begin());
    for (const v1::RecordedRow& row : file.rows) {
      const std::string name = !row.name().empty()          ? row.name()
                               : !recording_.name().empty() ? recording_.name()
                                                            : "benchmark";
      const auto [place, is_new] = places_.emplace(name, benchmarks_.size());
      if (is_new) {
        benchmarks_.push_back({name, {}});
      }
      benchmarks_[place->second].rows.push_back(&row);
    }
  }

  std::string text() const {
    const OrderedJson meta = {
        {"argv", OrderedJson::array()},
        {"version", {{"json", {{"major", 1}, {"minor", 0}, {"patch", 0}, {"string", "1.0.0"}}}}}};
    std::string text = absl::StrCat("{\"meta\":",
                                    dump_line(meta),
                                    ",\n\"devices\":",
                                    dump_line(devices()),
                                    ",\n\"benchmarks\":[");
    const char* separator = "\n";
    for (std::size_t i = 0; i < benchmarks_.size(); ++i) {
      absl::StrAppend(&text, separator, dump_line(benchmark_of(benchmarks_[i], i)));
      separator = ",\n";
    }
    return absl::StrCat(text, "\n]}\n");
  }

 private:
  std::int64_t device_of(const v1::RecordedRow& row) const {
    std::int64_t id = 0;
    return device_ < row.values_size() && absl::SimpleAtoi(row.values(device_), &id) ? id : 0;
  }

  // "0: Name; 1: Name" of what was read from this format, else one device.
  OrderedJson devices() const {
    OrderedJson devices = OrderedJson::array();
    const std::vector<std::string> parts = absl::StrSplit(recording_.device_name(), "; ");
    for (const std::string& part : parts) {
      const std::vector<std::string> pair = absl::StrSplit(part, absl::MaxSplits(": ", 1));
      std::int64_t id = 0;
      if (pair.size() == 2 && absl::SimpleAtoi(pair[0], &id)) {
        devices.push_back({{"id", id}, {"name", pair[1]}});
      }
    }
    if (devices.empty()) {
      const std::string& name = recording_.device_name();
      devices.push_back({{"id", 0}, {"name", name.empty() ? "unknown" : name}});
    }
    return devices;
  }

  // The parameters that are axes of this benchmark, with their values and types.
  struct Axis {
    int parameter;
    std::vector<std::string> values;
    std::string type;
  };

  std::vector<Axis> axes_of(const Benchmark& benchmark) const {
    std::vector<Axis> axes;
    for (int i = 0; i < recording_.parameters_size(); ++i) {
      Axis axis{i, {}, {}};
      for (const v1::RecordedRow* row : benchmark.rows) {
        const std::string& value = row->values(i);
        if (!value.empty() && std::ranges::find(axis.values, value) == axis.values.end()) {
          axis.values.push_back(value);
        }
      }
      if (i != device_ && !axis.values.empty()) {
        axis.type = type_of(axis.values);
        axes.push_back(std::move(axis));
      }
    }
    return axes;
  }

  OrderedJson axes_json(const std::vector<Axis>& axes) const {
    OrderedJson list = OrderedJson::array();
    for (const Axis& axis : axes) {
      OrderedJson values = OrderedJson::array();
      for (const std::string& value : axis.values) {
        values.push_back({{"input_string", value},
                          {"description", ""},
                          {"value", axis.type == "string" ? OrderedJson(value) : json_of(value)}});
      }
      list.push_back({{"name", recording_.parameters(axis.parameter)},
                      {"type", axis.type},
                      {"flags", ""},
                      {"values", std::move(values)}});
    }
    return list.empty() ? OrderedJson() : list;
  }

  OrderedJson state_of(const v1::RecordedRow& row, const std::vector<Axis>& axes) const {
    OrderedJson values = OrderedJson::array();
    std::string name = absl::StrCat("Device=", device_of(row));
    for (const Axis& axis : axes) {
      const std::string& value = row.values(axis.parameter);
      if (!value.empty()) {
        values.push_back({{"name", recording_.parameters(axis.parameter)},
                          {"type", axis.type},
                          {"value", value}});
        absl::StrAppend(&name, " ", recording_.parameters(axis.parameter), "=", value);
      }
    }
    const bool failed = row.failure() != v1::FAILURE_CLASS_UNSPECIFIED;
    OrderedJson state = {{"name", name},
                         {"device", device_of(row)},
                         {"axis_values", values.empty() ? OrderedJson() : values},
                         {"summaries", failed ? OrderedJson() : summaries_of(row)},
                         {"is_skipped", failed}};
    if (failed) {
      state["skip_reason"] = failure_text(row);
    }
    return state;
  }

  OrderedJson benchmark_of(const Benchmark& benchmark, std::size_t index) const {
    const std::vector<Axis> axes = axes_of(benchmark);
    OrderedJson ids = OrderedJson::array();
    OrderedJson states = OrderedJson::array();
    for (const v1::RecordedRow* row : benchmark.rows) {
      if (std::find(ids.begin(), ids.end(), device_of(*row)) == ids.end()) {
        ids.push_back(device_of(*row));
      }
      states.push_back(state_of(*row, axes));
    }
    return {{"name", benchmark.name},
            {"index", index},
            {"devices", std::move(ids)},
            {"axes", axes_json(axes)},
            {"states", std::move(states)}};
  }

  const v1::Recording& recording_;
  int device_ = 0;
  std::map<std::string, std::size_t> places_;
  std::vector<Benchmark> benchmarks_;
};

}  // namespace

std::string write_nvbench(const RecordedFile& file) {
  return NvbenchWriter(file).text();
}

}  // namespace assay::client
