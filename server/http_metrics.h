// What /metrics answers: the daemon's figures in the Prometheus text format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
#pragma once

#include "db/store.h"
#include "proto/assay.pb.h"
#include "server/call_counts.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::server {

inline constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

struct MetricsInput {
  db::Figures figures;
  v1::ListDevicesResponse devices;
  CallCounts::Counts grpc_calls;
  CallCounts::Counts http_requests;
  std::int64_t num_streams = 0;  // open ones
  std::int64_t start_ns = 0;     // of the daemon
  std::string version;
};

std::string metrics_text(const MetricsInput& input);

}  // namespace assay::server
