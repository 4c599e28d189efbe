#include "server/call_log.h"

#include "proto/rpc_status.h"
#include "server/log.h"
#include "server/public_status.h"

#include "absl/strings/str_cat.h"

#include <string>

namespace assay::server {

grpc::Status CallLog::done(const absl::Status& status, std::int64_t id) const {
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start_;
  log_line("call",
           {{"method", std::string(method_)},
            {"id", absl::StrCat(id)},
            {"outcome", absl::StatusCodeToString(status.code())},
            {"elapsed_ns", absl::StrCat(elapsed.count())},
            {"message", std::string(status.message())}});
  return proto::to_grpc(public_status(status));
}

}  // namespace assay::server
