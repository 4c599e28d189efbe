// One line a call in the log, written when it is answered.
#pragma once

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace assay::server {

class CallLog {
 public:
  explicit CallLog(std::string_view method)
      : method_(method), start_(std::chrono::steady_clock::now()) {}

  // What is wrong inside stays in the log.
  grpc::Status done(const absl::Status& status, std::int64_t id = 0) const;

 private:
  std::string_view method_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace assay::server
