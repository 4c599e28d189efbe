#include "server/http_metrics.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(HttpMetrics, EscapesLabels) {
  MetricsInput input;
  input.devices.add_devices()->set_name("a\"b\\c\nd");
  EXPECT_TRUE(has_line(metrics_text(input), R"(assay_queue_length{device="a\"b\\c\nd"} 0)"));
}

TEST(HttpMetrics, ShowsEveryFigure) {
  MetricsInput input;
  input.figures.num_experiments = {{v1::DONE, 7}, {v1::QUEUED, 2}};
  input.figures.database_bytes = 40'960;
  v1::Device& device = *input.devices.add_devices();
  device.set_name("cpu");
  device.set_available(true);
  device.set_queue_length(2);
  device.set_running_experiment_id(9);
  device.set_num_runner_restarts(3);
  input.grpc_calls = {{{"List", "OK"}, 5}};
  input.http_requests = {{{"List", "200"}, 4}, {{"List", "400"}, 1}};
  input.num_streams = 1;
  input.start_ns = 1'700'000'000'250'000'000;
  input.version = "1.2";
  const std::string text = metrics_text(input);
  for (const char* line : {"# TYPE assay_experiments gauge",
                           "assay_experiments{state=\"done\"} 7",
                           "assay_experiments{state=\"queued\"} 2",
                           "assay_experiments{state=\"failed\"} 0",
                           "assay_database_bytes 40960",
                           "assay_device_available{device=\"cpu\"} 1",
                           "assay_queue_length{device=\"cpu\"} 2",
                           "assay_running{device=\"cpu\"} 1",
                           "# TYPE assay_runner_restarts_total counter",
                           "assay_runner_restarts_total{device=\"cpu\"} 3",
                           "assay_grpc_calls_total{method=\"List\",code=\"OK\"} 5",
                           "assay_http_requests_total{method=\"List\",code=\"200\"} 4",
                           "assay_http_requests_total{method=\"List\",code=\"400\"} 1",
                           "assay_http_streams 1",
                           "process_start_time_seconds 1700000000.250000000",
                           "assay_build_info{version=\"1.2\"} 1"}) {
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  }
}

}  // namespace
}  // namespace assay::server
