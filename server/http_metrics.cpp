#include "server/http_metrics.h"

#include "absl/strings/str_cat.h"

#include <cctype>
#include <initializer_list>
#include <utility>

namespace assay::server {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// A label's value: backslash, quote and line feed are the format's own.
std::string escaped(std::string_view value) {
  std::string text;
  for (const char letter : value) {
    if (letter == '\n') {
      text += "\\n";
      continue;
    }
    if (letter == '\\' || letter == '"') {
      text += '\\';
    }
    text += letter;
  }
  return text;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return result;
}

// "1700000000.250000000": exact, unlike a double of six digits.
std::string seconds(std::int64_t ns) {
  return absl::StrCat(ns / kNsPerSecond, ".", absl::Dec(ns % kNsPerSecond, absl::kZeroPad9));
}

class MetricsText {
 public:
  // Begins a family; its samples follow at once.
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = std::string(name);
    absl::StrAppend(&text_, "# HELP ", name_, " ", std::string(help), "\n");
    absl::StrAppend(&text_, "# TYPE ", name_, " ", std::string(type), "\n");
  }

  template <class Number>
  void sample(Labels labels, Number value) {
    text_ += name_;
    std::string_view separator = "{";
    for (const auto& [label, text] : labels) {
      absl::StrAppend(
          &text_, std::string(separator), std::string(label), "=\"", escaped(text), "\"");
      separator = ",";
    }
    absl::StrAppend(&text_, labels.size() == 0 ? " " : "} ", value, "\n");
  }

  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
};

void add_experiments(const db::Figures& figures, MetricsText& text) {
  text.family("assay_experiments", "gauge", "Experiments in the database by state.");
  const auto& states = *v1::TaskState_descriptor();
  for (int i = 0; i < states.value_count(); ++i) {
    const auto state = static_cast<v1::TaskState>(states.value(i)->number());
    if (state != v1::TASK_STATE_UNSPECIFIED) {
      const auto found = figures.num_experiments.find(state);
      const bool is_there = found != figures.num_experiments.end();
      text.sample({{"state", lower(v1::TaskState_Name(state))}}, is_there ? found->second : 0);
    }
  }
  text.family("assay_database_bytes", "gauge", "Size of the database without its log.");
  text.sample({}, figures.database_bytes);
}

void add_devices(const v1::ListDevicesResponse& response, MetricsText& text) {
  text.family("assay_device_available", "gauge", "Whether the device can run experiments.");
  for (const v1::Device& device : response.devices()) {
    text.sample({{"device", device.name()}}, device.available() ? 1 : 0);
  }
  text.family("assay_queue_length", "gauge", "Experiments that wait for the device.");
  for (const v1::Device& device : response.devices()) {
    text.sample({{"device", device.name()}}, device.queue_length());
  }
  text.family("assay_running", "gauge", "Experiments that run on the device.");
  for (const v1::Device& device : response.devices()) {
    text.sample({{"device", device.name()}}, device.running_experiment_id() != 0 ? 1 : 0);
  }
  text.family(
      "assay_runner_restarts_total", "counter", "Runners of the device that were replaced.");
  for (const v1::Device& device : response.devices()) {
    text.sample({{"device", device.name()}}, device.num_runner_restarts());
  }
}

void add_counts(const CallCounts::Counts& counts, MetricsText& text) {
  for (const auto& [key, count] : counts) {
    text.sample({{"method", key.first}, {"code", key.second}}, count);
  }
}

}  // namespace

std::string metrics_text(const MetricsInput& input) {
  MetricsText text;
  add_experiments(input.figures, text);
  add_devices(input.devices, text);
  text.family("assay_grpc_calls_total", "counter", "gRPC calls by method and outcome.");
  add_counts(input.grpc_calls, text);
  text.family("assay_http_requests_total", "counter", "HTTP requests by method and status.");
  add_counts(input.http_requests, text);
  text.family("assay_http_streams", "gauge", "Open event streams.");
  text.sample({}, input.num_streams);
  text.family("process_start_time_seconds", "gauge", "Start of the daemon since the epoch.");
  text.sample({}, seconds(input.start_ns));
  text.family("assay_build_info", "gauge", "The version of the daemon, always 1.");
  text.sample({{"version", input.version}}, 1);
  return std::move(text).take();
}

}  // namespace assay::server
